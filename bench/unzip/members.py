"""Member rows, and memory with a large archive: ``python -m bench members``.

Rows go to a fake DynamoDB that answers each batch after 10 ms. For comparison: botocore's own
serialisation, and hashing as many small members. The large archive has a stored and a deflated
member of 1 GB each; the memory limit includes written data that is not yet on disk.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import zipfile
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

import boto3
import click
from botocore.config import Config

from bench.sandbox import fake_dynamodb
from bench.tables import options
from bench.tables.process import Meter
from bench.tables.spread import Spread
from bench.tables.table import Column, Table, numbers, show
from bench.unzip import variants
from bench.unzip.archives import FOLDER, OTHERS, archives
from bench.unzip.variants import VARIANTS
from bucketsum.archives.archive_hasher import member_row
from bucketsum.archives.member_rows import MemberRows
from bucketsum.archives.model import Member, MemberDigest, MemberResult
from bucketsum.events.object_events import ObjectCreated
from bucketsum_cli.machine.cgroups import cgroup_roots, remove_roots
from bucketsum_cli.machine.worker import Cgroup
from bucketsum_cli.terminal import output

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from mypy_boto3_dynamodb import DynamoDBClient

ROWS: Final = 10_000
LATENCY_SECONDS: Final = 0.01
"""Assumed time of a BatchWriteItem."""

MEMORY_MB: Final = 128
MEMBER_BYTES: Final = 1_000_000_000
_IN_MEMORY: Final = ("bucketsum stream", "bucketsum stream, 2 threads", "bucketsum tmp, 2 threads")
CREATED: Final = ObjectCreated(
    bucket="inbox", key="archives/backup.zip", version_id="v" * 32, etag="e" * 32, size_bytes=1,
    sequencer="0055AED6DCD90281E5", event_time="2026-11-21T00:00:00.000Z",
)  # fmt: skip

Row = tuple[str, Spread | None, Spread | None, float | None]
"""Step, CPU seconds, wall seconds, peak MB; None if not measured."""


@click.command()
@options.runs(5)
@options.as_json
def members(runs: int, *, as_json: bool) -> None:
    """Measure the memory to hash a zip, and the time to write rows.

    Hashes an archive with 2 GB of files in 128 MB of memory, and writes the rows of 10,000 archive
    members to a fake DynamoDB.
    """
    rows = (*row_costs(runs), *memory_of_variants())
    columns = (
        Column("step", "step"),
        *numbers("CPU s", "seconds", decimals=2),
        *numbers("peak MB", decimals=0),
    )
    show([Table("members", columns, rows)], as_json=as_json)


def row_costs(runs: int) -> Iterator[Row]:
    """Time to make and write rows, and to hash the same number of members."""
    results = member_results()
    [small] = archives({"10,000 small files": OTHERS["10,000 small files"]})
    with tempfile.TemporaryDirectory() as folder, fake_table(Path(folder, "requests")) as url:
        yield _cost("rows built", runs, lambda: [member_row(CREATED, each) for each in results])
        for name, raw in (("rows built and sent", True), ("the same by botocore alone", False)):
            rows = MemberRows(client_for(url), "digests", plainly=raw)
            yield _cost(name, runs, partial(_send, rows, results))
        hashed = partial(VARIANTS["bucketsum stream"], small.path, Path(folder))
        yield _cost("hashing as many small members", runs, hashed)


def _cost(name: str, runs: int, work: Callable[[], object]) -> Row:
    work()
    readings = []
    for _ in range(runs):
        meter = Meter()
        work()
        readings.append(meter.stop())
    cpu_seconds = Spread.of(reading["cpu_seconds"] for reading in readings)
    return name, cpu_seconds, Spread.of(reading["seconds"] for reading in readings), None


def member_results() -> list[MemberResult]:
    """Members like those of an archive of source files."""
    results = []
    for number in range(ROWS):
        name = f"lib/python3.13/site-packages/package/module_{number:05}.py"
        raw = name.encode()
        member = Member(raw, raw, "utf-8", number, 8, 0, number, 1000, 3000, 3, 0)
        results.append(MemberResult(name, MemberDigest(member, 3000, f"{number:040x}")))
    return results


@contextmanager
def fake_table(requests: Path) -> Iterator[str]:
    """URL of a fake DynamoDB that records its *requests*."""
    program = [sys.executable, "-m", fake_dynamodb.__name__]
    with subprocess.Popen(  # noqa: S603 - this interpreter
        [*program, "127.0.0.1:0", str(LATENCY_SECONDS), requests], stdout=subprocess.PIPE, text=True
    ) as server:
        try:
            port = server.stdout.readline().strip() if server.stdout else ""
            yield f"http://127.0.0.1:{port}"
        finally:
            server.terminate()


def client_for(url: str) -> DynamoDBClient:
    """A client of the fake DynamoDB at *url*."""
    return boto3.client(
        "dynamodb",
        endpoint_url=url,
        region_name="us-east-1",
        aws_access_key_id="none",
        aws_secret_access_key="none",  # noqa: S106 - not a secret
        config=Config(retries={"mode": "standard", "total_max_attempts": 4}),
    )


def _send(rows: MemberRows, results: list[MemberResult]) -> None:
    with rows.writer() as writer:
        for result in results:
            writer.put(member_row(CREATED, result))


def memory_of_variants() -> Iterator[Row]:
    """Each mode with the large archive; nothing if control groups are not writable."""
    roots = cgroup_roots(f"bucketsum-bench-{os.getpid()}")
    if roots is None:
        output.note("control groups are not writable, so memory cannot be limited")
        return
    try:
        with tempfile.TemporaryDirectory(dir=FOLDER) as scratch:
            archive = Path(scratch, "large.zip")
            make_large_archive(archive, MEMBER_BYTES)
            for variant in _IN_MEMORY:
                yield _in_memory(variant, archive, Cgroup(roots, variant, MEMORY_MB))
    finally:
        remove_roots(roots)


def make_large_archive(path: Path, member_bytes: int) -> None:
    """Create an archive of a stored and a deflated member, both of source code and noise."""
    sources = (file.read_bytes() for file in sorted(Path(os.__file__).parent.glob("*.py")))
    piece = b"".join(sources)[:3_000_000] + os.urandom(1_000_000)
    with zipfile.ZipFile(path, "w", compresslevel=1) as archive:
        for method in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            member = zipfile.ZipInfo(f"{method}")
            member.compress_type = method
            with archive.open(member, "w") as target:
                for _ in range(member_bytes // len(piece)):
                    target.write(piece)


def _in_memory(variant: str, archive: Path, group: Cgroup) -> Row:
    """Read *archive* in *group*; a killed process has no measurement."""
    completed = subprocess.run(  # noqa: S603 - this interpreter
        [sys.executable, "-m", variants.__name__, variant, archive, archive.with_suffix("")],
        check=False,
        stdout=subprocess.PIPE,
        preexec_fn=lambda: group.limit_memory(os.getpid()),
    )
    group.remove()
    name = f"2 GB in {MEMORY_MB} MiB: {variant}"
    if completed.returncode:
        return f"{name}: ended with {completed.returncode}", None, None, None
    timing = json.loads(completed.stdout)
    cpu_seconds, seconds = Spread.of([timing["cpu_seconds"]]), Spread.of([timing["seconds"]])
    return name, cpu_seconds, seconds, timing["peak_bytes"] / 1e6
