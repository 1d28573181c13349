"""Experiments on one part of unzipping: the split of its time, member rows, and memory."""

from __future__ import annotations

import json
import os
import struct
import subprocess
import sys
import tempfile
import zlib
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

import boto3
import click
from botocore.config import Config

from bench.box import fake_dynamodb
from bench.tables.process import Meter
from bench.tables.spread import Spread
from bench.tables.table import Column, Table
from bench.unzip import variants
from bench.unzip.archives import FOLDER, OTHERS, archives
from bench.unzip.variants import VARIANTS
from bucketsum.archives.archive_hasher import member_row
from bucketsum.archives.member_rows import WRITERS, MemberRows
from bucketsum.archives.model import Member, MemberDigest, MemberResult
from bucketsum.notifications import ObjectCreated
from bucketsum_cli import output
from bucketsum_cli.local.cgroups import cgroup_roots, remove_roots
from bucketsum_cli.local.worker import Cgroup

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from mypy_boto3_dynamodb import DynamoDBClient

ROWS: Final = 10_000
LATENCY_SECONDS: Final = 0.01
"""Assumed time of a BatchWriteItem."""

MEMORY_MB: Final = 128
MEMBER_BYTES: Final = 1_000_000_000
_IN_MEMORY: Final = ("bucketsum stream", "bucketsum stream, 2 threads", "bucketsum tmp, 2 threads")
_SOURCE_BYTES: Final = 3_000_000
_NOISE_BYTES: Final = 1_000_000
_LOCAL: Final = struct.Struct("<4sHHHHHLLLHH")
_ENTRY: Final = struct.Struct("<4sHHHHHHLLLHHHHHLL")
_END: Final = struct.Struct("<4sHHHHLLH")
CREATED: Final = ObjectCreated(
    bucket="inbox", key="archives/backup.zip", version_id="v" * 32, etag="e" * 32, size_bytes=1,
    sequencer="0055AED6DCD90281E5", event_time="2026-11-21T00:00:00.000Z",
)  # fmt: skip

Row = tuple[str, Spread | None, Spread | None, float | None]
"""Experiment, CPU seconds, wall seconds, peak MB; None if not measured."""


def table(title: str, rows: Iterator[Row]) -> Table:
    """The table of every experiment."""

    def seconds(spread: Spread) -> str:
        return spread.text(2)

    columns = (
        Column("experiment", "experiment"),
        Column("CPU s", "cpu_seconds", seconds),
        Column("seconds", "seconds", seconds),
        Column("peak MB", "peak_mb", "{:.1f}".format),
    )
    return Table("unzip-experiments", columns, tuple(rows), title)


@click.command("unzip-rows")
@click.option("--turns", default=5, show_default=True, type=click.IntRange(1), help="Runs of each.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
def unzip_rows(turns: int, *, as_json: bool) -> None:
    """Measure building and writing 10,000 member rows.

    A fake DynamoDB answers each batch after 10 ms. For comparison: botocore's own serialisation,
    and hashing as many small members.
    """
    output.note(f"{turns} turns of each, with {WRITERS} batches at a time")
    _show(table(f"{ROWS:,} members", row_costs(turns)), as_json=as_json)


@click.command("unzip-memory")
@click.option(
    "--member-mb",
    default=MEMBER_BYTES // 10**6,
    show_default=True,
    type=click.IntRange(1),
    help="Size of each of the two members.",
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
def unzip_memory(member_mb: int, *, as_json: bool) -> None:
    """Read a large archive within 128 MiB of memory.

    It has a stored and a deflated member. The limit includes written data that is not yet on disk.
    """
    roots = cgroup_roots(f"bucketsum-bench-{os.getpid()}")
    if roots is None:
        raise SystemExit("control groups are not writable, so memory cannot be limited")
    FOLDER.mkdir(parents=True, exist_ok=True)
    try:
        with tempfile.TemporaryDirectory(dir=FOLDER) as scratch:
            archive = Path(scratch, "large.zip")
            with archive.open("wb") as file:
                file.writelines(archive_pieces(member_mb * 10**6))
            size = output.size_text(archive.stat().st_size)
            rows = (in_memory(variant, archive, roots) for variant in _IN_MEMORY)
            _show(
                table(f"an archive of {size} in {MEMORY_MB} MiB of memory", rows), as_json=as_json
            )
    finally:
        remove_roots(roots)


def _show(measured: Table, *, as_json: bool) -> None:
    if as_json:
        output.print_json(measured.as_json())
    else:
        measured.show()


def row_costs(turns: int) -> Iterator[Row]:
    """Building and writing rows, and hashing as many members."""
    results = member_results()
    [small] = archives({"10,000 small files": OTHERS["10,000 small files"]}, FOLDER)
    with tempfile.TemporaryDirectory() as folder, fake_table(Path(folder, "requests")) as url:
        yield _cost("rows built", turns, lambda: [member_row(CREATED, each) for each in results])
        for name, raw in (("rows built and sent", True), ("the same by botocore alone", False)):
            rows = MemberRows(client_for(url), "digests", plainly=raw)
            yield _cost(name, turns, partial(_send, rows, results))
        hashed = partial(VARIANTS["bucketsum stream"], small.path, Path(folder))
        yield _cost("hashing as many small members", turns, hashed)


def _cost(name: str, turns: int, work: Callable[[], object]) -> Row:
    work()
    runs = []
    for _ in range(turns):
        meter = Meter()
        work()
        runs.append(meter.stop())
    cpu_seconds = Spread.of(run["cpu_seconds"] for run in runs)
    return name, cpu_seconds, Spread.of(run["seconds"] for run in runs), None


def member_results() -> list[MemberResult]:
    """Members like those of an archive of source files."""
    members = []
    for number in range(ROWS):
        name = f"lib/python3.13/site-packages/package/module_{number:05}.py"
        raw = name.encode()
        member = Member(raw, raw, "utf-8", number, 8, 0, number, 1000, 3000, 3, 0)
        members.append(MemberResult(name, MemberDigest(member, 3000, f"{number:040x}")))
    return members


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


def archive_pieces(member_bytes: int = MEMBER_BYTES) -> Iterator[bytes]:
    """A valid archive of two members: source code and noise, compressed once and repeated."""
    sources = (path.read_bytes() for path in sorted(Path(os.__file__).parent.glob("*.py")))
    piece = b"".join(sources)[:_SOURCE_BYTES] + os.urandom(_NOISE_BYTES)
    engine = zlib.compressobj(6, zlib.DEFLATED, -zlib.MAX_WBITS)
    block = engine.compress(piece) + engine.flush(zlib.Z_FULL_FLUSH)  # can be repeated
    offset, entries = 0, b""
    for name, method, unit, end in ((b"stored", 0, piece, b""), (b"deflated", 8, block, b"\x03\0")):
        times = max(1, member_bytes // len(unit))
        crc32 = 0
        for _ in range(times):
            crc32 = zlib.crc32(piece, crc32)
        sizes = times * len(unit) + len(end), times * len(piece)
        fields = (20, 0, method, 0, 0, crc32, *sizes, len(name), 0)
        yield _LOCAL.pack(b"PK\x03\x04", *fields) + name
        for _ in range(times):
            yield unit
        yield end
        entries += _ENTRY.pack(b"PK\x01\x02", 20, *fields, 0, 0, 0, 0, offset) + name
        offset += _LOCAL.size + len(name) + sizes[0]
    yield entries + _END.pack(b"PK\x05\x06", 0, 0, 2, 2, len(entries), offset, 0)


_WAITS: Final = (
    f"import sys; from pathlib import Path; from {variants.__name__} import main;"
    "sys.stdin.readline(); main(sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3]))"
)
"""Begins when it is in its control group."""


def in_memory(variant: str, archive: Path, roots: dict[str, str]) -> Row:
    """Read *archive* in a control group of its own; a killed process has no measurement."""
    with subprocess.Popen(  # noqa: S603 - this interpreter
        [sys.executable, "-c", _WAITS, variant, archive, archive.with_suffix("")],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as child:
        group = Cgroup(roots, str(child.pid), MEMORY_MB)
        group.limit_memory(child.pid)
        answer = child.communicate(b"go\n")[0]
    group.remove()
    if child.returncode:
        return f"{variant}: ended with {child.returncode}", None, None, None
    timing = json.loads(answer)
    cpu_seconds, seconds = Spread.of([timing["cpu_seconds"]]), Spread.of([timing["seconds"]])
    return variant, cpu_seconds, seconds, timing["peak_bytes"] / 1e6
