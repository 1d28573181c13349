"""The local emulator alone, without a stack: S3, Glue, and an Athena that runs on DuckDB.

Its Athena has no CREATE TABLE AS, and no Trino: `write_tables` does what a real one writes, and
`make trino` proves the statements.
"""

from __future__ import annotations

import os
import re
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

import pytest
from tests.cli.aws_calls import change_calls

from bucketsum_cli.aws.connection import Connection
from bucketsum_cli.aws.session import new_session
from bucketsum_cli.buckets.s3_place import S3Place
from bucketsum_cli.snapshots import athena_queries
from bucketsum_cli.snapshots.athena_queries import AthenaQueries
from bucketsum_cli.snapshots.database import DuckDb
from bucketsum_cli.snapshots.folder import Snapshot
from bucketsum_cli.snapshots.glue_tables import AthenaPlace, GlueTables
from bucketsum_cli.snapshots.in_place import MADE, form_of_tables
from bucketsum_cli.snapshots.stored import store
from bucketsum_cli.snapshots.tables import open_snapshot

URL: Final = "s3://lists/athena"
NAME: Final = "s3://lists/exports/2026-11-26"
_CREATE: Final = re.compile(
    r"CREATE TABLE (\w+)\.(\w+) WITH \(format = 'PARQUET', external_location = '(.*?)'\) AS (.*)",
    re.DOTALL,
)
_OF_TRINO: Final = ("CREATE TABLE", "EXPLAIN")
_HIVE: Final = {"VARCHAR": "string", "BIGINT": "bigint", "DOUBLE": "double", "BOOLEAN": "boolean",
                "TIMESTAMP": "timestamp"}  # fmt: skip
_SECONDS: Final = 30
_ACCOUNT: Final = {
    "AWS_DEFAULT_REGION": "us-east-1",
    "AWS_ACCESS_KEY_ID": "test",
    "AWS_SECRET_ACCESS_KEY": "test",
}


@contextmanager
def athena_server(folder: Path) -> Iterator[Connection]:
    """Run it, with a bucket for `URL`, during the block; clients of the environment reach it."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    settings = {
        "GATEWAY_PORT": str(port), "BIND_HOST": "127.0.0.1", "IOT_MTLS_ENABLED": "0",
        "TMPDIR": str(folder),
    }  # fmt: skip
    address = f"http://127.0.0.1:{port}"
    with (folder / "log").open("wb") as log, pytest.MonkeyPatch.context() as patch:
        server = subprocess.Popen(
            [sys.executable, "-m", "ministack"], env={**os.environ, **settings}, cwd=folder,
            stdout=log, stderr=log,
        )  # fmt: skip
        try:
            _wait_for(f"{address}/_ministack/ready")
            for name, value in (*_ACCOUNT.items(), ("AWS_ENDPOINT_URL", address)):
                patch.setenv(name, value)
            patch.setattr(athena_queries, "_POLL_SECONDS", 0.02)
            connection = Connection(new_session())
            connection.client("s3").create_bucket(Bucket="lists")
            yield connection
        finally:
            server.terminate()
            server.wait()


def stored(aws: Connection, local: Snapshot) -> Snapshot:
    """Write a *local* snapshot to `NAME`, as if DynamoDB had exported its rows."""
    snapshot = replace(local, place=f"{NAME}/", export="AWSDynamoDB/01/", via="export")
    (local.folder / "snapshot.json").write_text(snapshot.document)
    store(aws.client("s3"), snapshot)
    return snapshot


def write_tables(
    monkeypatch: pytest.MonkeyPatch, snapshot: Snapshot, rows: int | None = None
) -> list[str]:
    """Write what CREATE TABLE AS makes of *snapshot*; returns these, and keys that are read."""
    calls: list[str] = []

    def change(operation: str, request: dict[str, Any]) -> None:
        if operation == "GetObject":
            calls.append(f"GetObject {request['Key']}")
        if operation == "StartQueryExecution" and (match := _CREATE.match(request["QueryString"])):
            database, table, location, sql = match.groups()
            calls.append(f"made {table.partition('_')[0]}")
            aws = Connection(new_session())
            local = open_snapshot(snapshot).local if table in MADE else _answer(aws, database, sql)
            source = table if table in MADE else "answer"
            if table == "items":  # only its number of rows is asked
                source = f"(SELECT 'x' AS kind FROM range({rows or snapshot.rows}))"  # noqa: S608 - a number
            with TemporaryDirectory() as folder:
                file = Path(folder, "0.parquet")
                types = local.write_parquet(f"FROM {source}", file)
                place = S3Place.of_folder(location)
                aws.client("s3").put_object(
                    Bucket=place.bucket, Key=f"{place.key}0.parquet", Body=file.read_bytes()
                )
            columns = {name: _HIVE[kind] for name, kind in types.items()}
            form = "" if source == "answer" else form_of_tables()
            tables = GlueTables(aws, AthenaPlace("s3://lists", database), form)
            tables.add(table, columns, "parquet", place)
        if request.get("QueryString", "").startswith(_OF_TRINO):
            request["QueryString"] = "SELECT ''"

    change_calls(monkeypatch, change)
    return calls


def _answer(aws: Connection, database: str, sql: str) -> DuckDb:
    """A database with the table ``answer``."""
    results = S3Place.of_folder("s3://lists/other/")
    answer = AthenaQueries(aws, "primary", results).run(sql, database)
    local = DuckDb()
    columns = ", ".join(
        f"{name} {'BIGINT' if name == 'size_bytes' else 'VARCHAR'}" for name in answer.columns
    )
    local.put_table("answer", columns, answer.records())
    return local


def _wait_for(address: str) -> None:
    deadline = time.monotonic() + _SECONDS
    while time.monotonic() < deadline:
        with suppress(urllib.error.URLError), urllib.request.urlopen(address):  # noqa: S310 - http
            return
        time.sleep(0.05)
    raise TimeoutError(address)
