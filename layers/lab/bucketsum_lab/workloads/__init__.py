"""The registry of workloads.

A workload is a folder here, a `WorkloadName` and a line in `WORKLOADS`; see CONTRIBUTING.md.
Everything else knows it by `Workload`. Importing it imports nothing that only its probe or its
objects need.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Any, Final

from bucketsum.events.message_fields import WHOLE_MAX
from bucketsum_lab.errors import BadSweep, FieldPlace
from bucketsum_lab.protocol.fields import text, whole
from bucketsum_lab.protocol.parameters import Setting, stream_count
from bucketsum_lab.protocol.run_records import WorkloadStatistics
from bucketsum_lab.protocol.workload import Workload
from bucketsum_lab.workloads.fetch.workload import FetchWorkload
from bucketsum_lab.workloads.hash.workload import HashWorkload
from bucketsum_lab.workloads.records.workload import RecordsWorkload
from bucketsum_lab.workloads.transfer.workload import TransferWorkload
from bucketsum_lab.workloads.unzip.workload import UnzipWorkload


class WorkloadName(StrEnum):
    """Values of the input's field ``workload``."""

    HASH = "hash"
    UNZIP = "unzip"
    FETCH = "fetch"
    TRANSFER = "transfer"
    RECORDS = "records"


_ALL: Final = (
    HashWorkload(), UnzipWorkload(), FetchWorkload(), TransferWorkload(), RecordsWorkload(),
)  # fmt: skip
WORKLOADS: Final[Mapping[WorkloadName, Workload]] = {
    WorkloadName(workload.name): workload for workload in _ALL
}

OWN_PARAMETERS: Final = {
    parameter.name: parameter
    for workload in WORKLOADS.values()
    for parameter in workload.parameters
}
"""Parameters of all workloads by name."""

SAMPLE_NAMES: Final = tuple(
    dict.fromkeys(name for workload in WORKLOADS.values() for name in workload.sample_names)
)

_POSITIVE: Final = whole(1, WHOLE_MAX)


def workload_of(name: str) -> Workload:
    """The workload of that name.

    Raises:
        BadSweep: There is none.
    """
    if name not in tuple(WorkloadName):
        raise BadSweep(f"there is no workload {name!r}")
    return WORKLOADS[WorkloadName(name)]


def statistics_of(values: Mapping[str, Any]) -> WorkloadStatistics | None:
    """The own statistics of its workload among the *values* of a cell; None if there are none.

    Raises:
        ValueError: Some are missing, or are of another type.
    """
    kind = WORKLOADS[WorkloadName(values.get("workload", WorkloadName.HASH))].statistics_type
    return kind.of_values(values) if kind else None


def setting_of(values: Mapping[str, Any]) -> Setting:
    """The setting among *values*: the inverse of `Setting.values`.

    Raises:
        KeyError: A value that every setting has is missing.
        ValueError: A setting cannot have one of the values.
    """
    try:
        memory_mb = _POSITIVE(FieldPlace("memory_mb"), values["memory_mb"])
        chunk_bytes = _POSITIVE(FieldPlace("chunk_bytes"), values["chunk_bytes"])
        streams = stream_count(FieldPlace("streams"), values["streams"])
        variant = tuple(
            (parameter, parameter.read(FieldPlace(name), values[name]))
            for name, parameter in OWN_PARAMETERS.items()
            if values.get(name) is not None
        )
        disk = None if values.get("disk") is None else text(FieldPlace("disk"), values["disk"])
        return Setting(memory_mb, chunk_bytes, streams, variant, disk)
    except BadSweep as error:
        raise ValueError(str(error)) from error
