"""What rows of members cost: ``python -m bench.unzip.rows``.

10,000 rows, as the hash path makes and sends them, to a server of this machine in a process of its
own that answers each batch after `LATENCY_SECONDS`, as DynamoDB does. Beside it, what botocore
alone takes for the same, and what hashing as many small members takes.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

import boto3
import click
from botocore.config import Config

from bench.unzip.archives import OTHERS, archives
from bench.unzip.turns import Spread
from bench.unzip.ways import WAYS
from bucketsum.archives.archive_hasher import member_row
from bucketsum.archives.member_rows import WRITERS, MemberRows
from bucketsum.archives.model import Member, MemberDigest
from bucketsum.archives.reader import MemberResult
from bucketsum.notifications import ObjectCreated
from bucketsum_cli import output

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from mypy_boto3_dynamodb import DynamoDBClient

ROWS: Final = 10_000
LATENCY_SECONDS: Final = 0.01
FOLDER: Final = Path(".bucketsum", "bench-unzip")
_ARRIVAL: Final = ObjectCreated(
    bucket="inbox", key="archives/backup.zip", version_id="v" * 32, etag="e" * 32, size_bytes=1,
    sequencer="0055AED6DCD90281E5", event_time="2026-11-21T00:00:00.000Z",
)  # fmt: skip
_SERVER: Final = """
import sys, time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
class Answer(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        time.sleep(float(sys.argv[1]))
        self.send_response(200)
        self.send_header("Content-Length", "23")
        self.end_headers()
        self.wfile.write(b'{"UnprocessedItems":{}}')
    def log_message(self, *_): pass
server = ThreadingHTTPServer(("127.0.0.1", 0), Answer)
print(server.server_address[1], flush=True)
server.serve_forever()
"""


@dataclass(frozen=True, slots=True)
class Cost:
    """What something takes for `ROWS` members.

    Attributes:
        what: Which.
        cpu_seconds: Processor time of this process.
        seconds: Wall time.
    """

    what: str
    cpu_seconds: Spread
    seconds: Spread


@contextmanager
def answering_server() -> Iterator[str]:
    """Its URL, while it runs."""
    with subprocess.Popen(  # noqa: S603 - ourselves
        [sys.executable, "-c", _SERVER, str(LATENCY_SECONDS)], stdout=subprocess.PIPE, text=True
    ) as server:
        try:
            port = server.stdout.readline().strip() if server.stdout else ""
            yield f"http://127.0.0.1:{port}"
        finally:
            server.terminate()


def found_members() -> list[MemberResult]:
    """As an archive of source files has them."""
    members = []
    for number in range(ROWS):
        name = f"lib/python3.13/site-packages/package/module_{number:05}.py"
        member = Member(name, name.encode(), number, 8, 0, number, 1000, 3000, 3, 0)
        members.append(MemberResult(name, MemberDigest(member, 3000, f"{number:040x}")))
    return members


def costs(turns: int) -> Iterator[Cost]:
    """Each in turn."""
    found = found_members()
    [small] = archives({"10,000 small files": OTHERS["10,000 small files"]}, FOLDER)
    with answering_server() as url, tempfile.TemporaryDirectory() as folder:
        yield _cost("rows made", turns, lambda: [member_row(_ARRIVAL, one) for one in found])
        for what, plainly in (("rows made and sent", True), ("the same by botocore alone", False)):
            rows = MemberRows(_client(url), "digests", plainly=plainly)
            yield _cost(what, turns, partial(_send, rows, found))
        hashed = partial(WAYS["bucketsum stream"], small.path, Path(folder))
        yield _cost("hashing 10,000 small members", turns, hashed)


def _send(rows: MemberRows, found: list[MemberResult]) -> None:
    with rows.writer() as writer:
        for one in found:
            writer.put(member_row(_ARRIVAL, one))


def _client(url: str) -> DynamoDBClient:
    return boto3.client(
        "dynamodb",
        endpoint_url=url,
        region_name="us-east-1",
        aws_access_key_id="none",
        aws_secret_access_key="none",  # noqa: S106 - nobody's
        config=Config(retries={"mode": "standard", "total_max_attempts": 4}),
    )


def _cost(what: str, turns: int, work: Callable[[], object]) -> Cost:
    work()
    cpu, wall = [], []
    for _ in range(turns):
        used, started = time.process_time(), time.perf_counter()
        work()
        cpu.append(time.process_time() - used)
        wall.append(time.perf_counter() - started)
    return Cost(what, Spread.of(cpu), Spread.of(wall))


@click.command()
@click.option("--turns", default=5, show_default=True, type=click.IntRange(1))
@click.option("--json", "as_json", is_flag=True, help="One JSON document.")
def rows(turns: int, *, as_json: bool) -> None:
    """Rows of 10,000 members: processor and wall seconds to make and to send them."""
    output.note(f"{turns} turns of each, with {WRITERS} batches at a time")
    measured = list(costs(turns))
    if as_json:
        output.print_json([asdict(one) for one in measured])
        return
    columns = [
        output.Column(f"{ROWS} members, median and range"),
        *(output.Column(title, 22, right=True) for title in ("CPU s", "seconds")),
    ]
    table = ([one.what, one.cpu_seconds.text(2), one.seconds.text(2)] for one in measured)
    output.print_table(columns, table)


if __name__ == "__main__":
    rows(prog_name="python -m bench.unzip.rows")
