"""The prober's event and answer, and the parts of a probe that all workloads share.

The prober's role is to be the hasher with a clock: this imports nothing that the hasher does not.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NotRequired, TypedDict

from bucketsum.events.object_events import ObjectCreated
from bucketsum.table.codec import attributes_of
from bucketsum_lab.protocol.samples import Reading, SampleStatus

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client

    from bucketsum.digest import Digest
    from bucketsum.measure import Measurement
    from bucketsum.s3.read_plan import ReadPolicy
    from bucketsum.s3.source import Source
    from bucketsum_lab.protocol.measuring import Meter
    from bucketsum_lab.protocol.parameters import Value
    from bucketsum_lab.protocol.samples import Billing, DiskSpeed, ProberProcess


class CellEvent(TypedDict):
    """A cell as the plan passes it to the state machine."""

    cell_id: str
    chunk_bytes: int
    streams: Value
    variant: NotRequired[dict[str, Value]]
    """Values of the workload's own parameters by name."""
    disk: NotRequired[str]
    """Folder for temporary files, if it is not the system's."""
    concurrency: int
    object: int
    """Index among the plan's objects."""


class KnownObject(TypedDict):
    """An object that is in the bucket."""

    key: str
    size_bytes: int
    sha1: str
    """40 lower-case hexadecimal characters."""
    contents: Mapping[str, Value] | None
    """Facts about its content; see `Workload.contents`."""


class ProbeEvent(CellEvent, KnownObject):
    """The prober's event: a cell and its object, which the state machine merges."""

    bucket: str
    workload: str


ProbeAnswer = dict[str, Any]
"""The prober's answer: the values of a `Sample` and of its workload's `sample_names`, by name."""


@dataclass(frozen=True, slots=True)
class ProbeContext:
    """The S3 client, the reader and its policy that a probe uses."""

    s3: S3Client
    source: Source
    """Reads objects with the cell's chunk size and streams."""
    policy: ReadPolicy
    """The cell's streams and chunk size, and the function's memory."""
    extra_algorithms: Sequence[str] = ()
    """Digests that the hasher computes too."""


def created_object(event: ProbeEvent) -> ObjectCreated:
    """The event that the hasher would get for the object of *event*."""
    return object_at(event["bucket"], event["key"], event["size_bytes"])


def object_at(bucket: str, key: str, size_bytes: int) -> ObjectCreated:
    """Like `created_object`, but for any object."""
    return ObjectCreated(bucket, key, None, None, size_bytes, sequencer="", event_time="")


def measured_answer(measurement: Measurement, meter: Meter) -> ProbeAnswer:
    """The answer with *measurement*, the final values of *meter*."""
    cpu_seconds = measurement.cpu_seconds
    reading = Reading(
        size_bytes=measurement.size_bytes,
        seconds=round(measurement.seconds, 6),
        mb_per_s=round(measurement.mb_per_s, 6),
        cpu_seconds=None if cpu_seconds is None else round(cpu_seconds, 6),
        max_rss_bytes=measurement.max_rss_bytes,
        rss_of="reading" if meter.peak_was_reset else "process",
    )
    return {"status": SampleStatus.OK.value, **values_of(reading)}


def values_of(part: Reading | Billing | ProberProcess | DiskSpeed) -> ProbeAnswer:
    """The values of a part of a `Sample` by name."""
    return {name: value for name, value in attributes_of(part) if value is not None}


def answer_of(event: ProbeEvent, digest: Digest, meter: Meter) -> ProbeAnswer:
    """Stop *meter* and compare *digest* with the known one; a wrong one is a failed sample."""
    return checked_answer(event, digest, meter.stop(digest.size_bytes), meter)


def checked_answer(
    event: ProbeEvent, digest: Digest, measurement: Measurement, meter: Meter
) -> ProbeAnswer:
    """Like `measured_answer`; failed if *digest* differs from the known digest."""
    answer = measured_answer(measurement, meter)
    answer["digest_ok"] = digest.sha1 == event["sha1"]
    answer["sha1"] = digest.sha1
    if digest.sha1 != event["sha1"]:
        answer.update(failed("WrongDigest", f"expected the SHA-1 {event['sha1']}"))
    return answer


def failed(error: str, cause: str) -> ProbeAnswer:
    """The answer of a sample that failed."""
    return {"status": SampleStatus.FAILED.value, "error": error, "cause": cause}
