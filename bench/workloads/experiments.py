"""Registry of experiments: inputs of sweeps, and the sandboxes that they are measured in."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, Final

from bucketsum_cli.machine.proxy import BURST_BYTES


@dataclass(frozen=True, slots=True)
class Experiment:
    """A sweep that is measured in sandboxes, one for each memory size.

    Attributes:
        name: Name on the command line, and of its table's marker in bench/measured/workloads.md.
        sweep: The sweep's input.
        quick: Fields that `--quick` replaces.
        limits_cpu: Whether the CPU share is Lambda's; else all cores, and memory is the only limit.
        columns: Own columns of its table; all of the workload's if empty.
    """

    name: str
    title: str
    sweep: dict[str, Any]
    quick: dict[str, Any] = field(default_factory=dict)
    limits_cpu: bool = True
    burst_bytes: int = 0
    columns: tuple[str, ...] = ()

    def quickly(self) -> Experiment:
        """A shortened experiment: enough for a check, too short for a comparison."""
        return replace(self, sweep=self.sweep | self.quick | {"runs": 1, "warm_up": False})

    def with_runs(self, runs: int) -> Experiment:
        """The same with another number of runs."""
        return replace(self, sweep=self.sweep | {"runs": runs})


_FETCH: Final = {
    "workload": "fetch",
    "object_bytes": [480_000_000],
    "chunk_bytes": [262_144],
    "schedule": ["all-first", "queue:1", "stream"],
}
_FETCH_QUICK: Final = {"object_bytes": [16_000_000]}

_TRANSFER: Final = {"workload": "transfer", "memory_mb": [1769]}
_TRANSFER_QUICK: Final = {"object_bytes": [10_000_000]}
_RECORDS: Final = {
    "workload": "records",
    "object_bytes": [240_560_000],
    "memory_mb": [1769],
    "connections": [16],
    "block_bytes": [4_096, 65_536],
}
_RECORDS_QUICK: Final = {"object_bytes": [2_000_000], "reads": [10, 1_000]}
_S3_LAYOUTS: Final = ["range", "coalesced", "whole", "object-per-record"]
_PARTITIONS: Final = ["partitioned", "partitioned-range"]
_OBJECT_COUNTS: Final = [10**power for power in range(7)]

EXPERIMENTS: Final = (
    Experiment(
        "transfer-patterns",
        "100 files, 156 MB together, with one vCPU and the network's burst",
        {**_TRANSFER, "client": ["libcurl", "boto3"],
         "pattern": ["serial", "parallel", "saturated", "limited:4", "limited:16", "staccato"]},
        _TRANSFER_QUICK | {"pattern": ["serial", "limited:4"]},
        burst_bytes=BURST_BYTES,
    ),
    Experiment(
        "transfer-clients",
        "The same files in 16 threads, by client, cold and warm",
        {**_TRANSFER, "pattern": ["limited:16"], "warm": ["cold", "warm"],
         "client": ["libcurl", "boto3", "boto3-per-file", "s3transfer"]},
        _TRANSFER_QUICK | {"client": ["libcurl", "boto3"]},
        burst_bytes=BURST_BYTES,
    ),
    Experiment(
        "transfer-managers",
        "The same files by two transfer managers: of boto3, and of AWS SDK for Java 2",
        {**_TRANSFER, "client": ["s3transfer", "java-transfer-manager"], "warm": ["cold", "warm"],
         "pattern": ["serial", "parallel", "saturated", "limited:4", "staccato"]},
        _TRANSFER_QUICK | {"pattern": ["limited:4"]},
        burst_bytes=BURST_BYTES,
    ),
    Experiment(
        "transfer-aws-cli",
        "The same files by `aws s3 cp`, a process for each, on two cores, as fractos (2017) had",
        {**_TRANSFER, "client": ["aws-cli"], "memory_mb": [6144], "warm_up": False,
         "pattern": ["serial", "parallel", "saturated", "limited:2", "staccato:1"]},
        _TRANSFER_QUICK | {"pattern": ["serial", "parallel"]},
        limits_cpu=False,
        burst_bytes=BURST_BYTES,
    ),
    Experiment(
        "transfer-programs",
        "20 files of 31 MB, by programs that start for each file, and by the reader of the hasher",
        {**_TRANSFER, "object_bytes": [31_240_960], "pattern": ["serial", "limited:4"],
         "client": ["libcurl", "aws-cli", "s5cmd", "rclone"]},
        _TRANSFER_QUICK | {"pattern": ["serial"]},
        burst_bytes=BURST_BYTES,
    ),
    Experiment(
        "fetch-memory",
        "480 MB in 12 archives, all cores, memory from a quarter of the data to twice as much",
        {**_FETCH, "memory_mb": [128, 256, 512, 1024]},
        _FETCH_QUICK | {"memory_mb": [256]},
        limits_cpu=False,
    ),
    Experiment(
        "fetch-lambda",
        "240 MB in 12 archives, with Lambda's CPU share",
        {**_FETCH, "object_bytes": [240_000_000], "memory_mb": [512, 1769, 3538]},
        _FETCH_QUICK | {"memory_mb": [1769]},
    ),
    Experiment(
        "fetch-depth",
        "240 MB in 12 archives, by the depth of the queue, on one vCPU",
        {**_FETCH, "object_bytes": [240_000_000], "memory_mb": [1769],
         "schedule": ["queue:1", "queue:2", "queue:4", "queue:8"]},
        _FETCH_QUICK | {"schedule": ["queue:2"]},
    ),
    Experiment(
        "fetch-lines",
        "Lines of 480 MB in 12 archives, as elsotanillo (2020) counts them, on all cores",
        {**_FETCH, "work": ["count-lines"], "memory_mb": [2048], "workers": [1, 2],
         "schedule": ["all-first", "queue:2", "stream", "shell"]},
        _FETCH_QUICK | {"memory_mb": [512], "schedule": ["queue:1", "shell"]},
        limits_cpu=False,
    ),
    Experiment(
        "records-s3",
        "Random reads of 2.48 million records in S3, one vCPU",
        {**_RECORDS, "layout": _S3_LAYOUTS, "reads": [100, 1_000, 10_000, 215_000]},
        _RECORDS_QUICK,
        columns=(
            "records_read", "total_seconds", "predicted_seconds", "index_phase", "fetch_phase",
            "record_ms", "record_requests", "read_factor", "usd_per_million_reads", "build_price",
        ),
    ),
    Experiment(
        "records-objects",
        "215,000 reads by the number of objects that the records are in, beside other layouts",
        {**_RECORDS, "layout": [*_S3_LAYOUTS[1:], *_PARTITIONS, "tmp-block", "sqlite-tmp"],
         "objects": _OBJECT_COUNTS, "reads": [215_000], "block_bytes": [32_768]},
        _RECORDS_QUICK | {"objects": [1, 100]},
        columns=(
            "records_read", "total_seconds", "build_phase", "index_phase", "fetch_phase",
            "record_requests", "read_factor", "build_price", "storage_factor",
        ),
    ),
    Experiment(
        "records-tmp",
        "The same records in a block file and in SQLite on the disk, one vCPU",
        {**_RECORDS, "layout": ["tmp-block", "sqlite-tmp"], "reads": [1_000, 215_000],
         "block_bytes": [512, 4_096, 32_768]},
        _RECORDS_QUICK,
        columns=(
            "total_seconds", "predicted_seconds", "build_phase", "index_phase", "fetch_phase",
            "records_per_s", "record_ms", "storage_factor",
        ),
    ),
)  # fmt: skip
"""In the order of bench/measured/workloads.md. Each workload's cells are those of its plan."""
