"""Records of sweeps for tests: workloads, settings, statistics, samples in the table."""

from typing import Any, Final

from mypy_boto3_dynamodb import DynamoDBClient

from bucketsum_lab.plan.input import SweepInput
from bucketsum_lab.plan.plan import Plan, plan_of
from bucketsum_lab.protocol.parameters import Variant
from bucketsum_lab.protocol.run_records import CellRow, CellStatistics
from bucketsum_lab.protocol.samples import Sample
from bucketsum_lab.results.measurements_table import MeasurementsTable
from bucketsum_lab.results.record_values import sample_of, sample_values
from bucketsum_lab.workloads import WORKLOADS, WorkloadName
from bucketsum_lab.workloads.unzip.workload import INFLATE, MODE

DEPLOYED: Final = {
    "MemorySize": "256", "ChunkBytes": "1048576", "Streams": "auto", "ArchiveMode": "stream",
}  # fmt: skip
"""The template's defaults."""

HASH: Final = WORKLOADS[WorkloadName.HASH]
UNZIP: Final = WORKLOADS[WorkloadName.UNZIP]
TRANSFER: Final = WORKLOADS[WorkloadName.TRANSFER]


def unzip_variant(mode: str, inflate: str) -> Variant:
    """The own values of a setting of the workload unzip."""
    return (MODE, mode), (INFLATE, inflate)


def plan_with(
    least: dict[str, Any], storage_mb: int = 512, key_sizes: tuple[int, ...] = (), **change: object
) -> Plan:
    """The plan of the input *least* with *change*; None removes a field."""
    raw = {name: value for name, value in (least | change).items() if value is not None}
    return plan_of(SweepInput.from_json(raw), key_sizes, storage_mb)


def stats_of(cell: CellRow) -> CellStatistics:
    """The statistics of a cell that has some."""
    assert cell.stats is not None
    return cell.stats


def statistics(seconds: float, **changes: Any) -> CellStatistics:  # noqa: ANN401 - of many types
    """Statistics of 5 warm samples of a slow cell that all took *seconds*, with *changes*."""
    values: dict[str, Any] = {
        "n": 5,
        **dict.fromkeys(
            ("min_seconds", "p50_seconds", "p90_seconds", "max_seconds", "mean_seconds"), seconds
        ),
        **dict.fromkeys(("mb_per_s", "usd_per_gb", "usd_per_tb", "p_value"), 0.0),
        **dict.fromkeys(("few_samples", "best", "indistinguishable_from_best", "pareto"), False),
        "stdev_seconds": None,
        "cpu_seconds": None,
        "billed_ms": seconds * 1000,
    }
    return CellStatistics(**values | changes)


def changed(sample: Sample, **values: object) -> Sample:
    """*sample* with other values, under the names of the table."""
    return sample_of({**sample_values(sample), **values})


def put_sample(dynamodb: DynamoDBClient, table: str, run_id: str, sample: Sample) -> None:
    """Write *sample* as the state machine does."""
    MeasurementsTable(dynamodb, table).record_sample(run_id, sample)
