"""The local emulator alone, without a stack: S3, Glue, and an Athena that runs on DuckDB.

Its Athena has no CREATE TABLE AS, and no Trino: `write_tables` does what a real one writes, and
`make trino` proves the statements.
"""

import os
import re
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from datetime import datetime
from functools import cache
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
from bucketsum_cli.snapshots.glue_tables import AthenaPlace, GlueTables, database_of
from bucketsum_cli.snapshots.in_place import MADE, form_of_tables
from bucketsum_cli.snapshots.stored import store
from bucketsum_cli.snapshots.tables import open_snapshot

URL: Final = "s3://lists/athena"
NAME: Final = "s3://lists/exports/2026-11-26"
_CREATE: Final = re.compile(
    r"CREATE TABLE (\w+)\.(\w+) WITH \(format = 'PARQUET', external_location = '(.*?)'\) AS (.*)",
    re.DOTALL,
)
_OF_FILES: Final = "SELECT sum(file_size_in_bytes)"
_OF_TRINO: Final = ("CREATE TABLE", "EXPLAIN", "UNLOAD")
_HIVE: Final = {"VARCHAR": "string", "BIGINT": "bigint", "DOUBLE": "double", "BOOLEAN": "boolean",
                "TIMESTAMP": "timestamp", "INTEGER": "int"}  # fmt: skip
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
            patch.setattr(athena_queries, "_POLL_SECONDS", 0.1)
            connection = Connection(new_session())
            connection.client("s3").create_bucket(Bucket="lists")
            yield connection
        finally:
            server.terminate()
            server.wait()


def stored(aws: Connection, local: Snapshot, name: str = NAME) -> Snapshot:
    """Write a *local* snapshot to the place *name*, as if DynamoDB had exported its rows."""
    snapshot = replace(local, place=f"{name}/", export="AWSDynamoDB/01/", via="export")
    (local.folder / "snapshot.json").write_text(snapshot.document)
    store(aws.client("s3"), snapshot)
    return snapshot


def write_tables(
    monkeypatch: pytest.MonkeyPatch,
    snapshot: Snapshot,
    rows: int | None = None,
    others: Sequence[Snapshot] = (),
) -> list[str]:
    """Write what CREATE TABLE AS makes of *snapshot* and *others*.

    Returns these, statements that only Trino understands, and keys that are read.
    """
    snapshots = {database_of(known): known for known in (snapshot, *others)}
    local_of = cache(lambda database: open_snapshot(snapshots[database]).local)
    calls: list[str] = []

    def change(operation: str, request: dict[str, Any]) -> None:
        if operation == "GetObject":
            calls.append(f"GetObject {request['Key']}")
        sql = request.get("QueryString", "")
        if match := _CREATE.match(sql):
            database, table, location, query = match.groups()
            calls.append(f"made {table.partition('_')[0]}")
            aws = Connection(new_session())
            local = local_of(database) if table in MADE else _answer(aws, database, query)
            source = table if table in MADE else "answer"
            if table == "items":  # only its number of rows is asked
                source = f"(SELECT 'x' AS kind FROM range({rows or snapshots[database].rows}))"  # noqa: S608 - a number
            _write(aws, local, source, (database, table, location))
        if sql.startswith(_OF_FILES):
            request["QueryString"] = "SELECT 20000000"
        if sql.startswith(_OF_TRINO):
            calls.append(sql)
            request["QueryString"] = "SELECT ''"

    change_calls(monkeypatch, change)
    return calls


def _write(aws: Connection, local: DuckDb, source: str, written: tuple[str, str, str]) -> None:
    """Write *source* as the table *written*: its database, its name and its place."""
    database, table, location = written
    place = S3Place.of_folder(location)
    with TemporaryDirectory() as folder:
        file = Path(folder, "0.parquet")
        types = local.write_parquet(f"FROM {source}", file)
        aws.client("s3").put_object(
            Bucket=place.bucket, Key=f"{place.key}0.parquet", Body=file.read_bytes()
        )
    columns = {name: _HIVE[kind] for name, kind in types.items()}
    form = "" if source == "answer" else form_of_tables()
    GlueTables(aws, AthenaPlace("s3://lists", database), form).add(table, columns, "parquet", place)


def _answer(aws: Connection, database: str, sql: str) -> DuckDb:
    """A database with the table ``answer``."""
    results = S3Place.of_folder("s3://lists/other/")
    answer = AthenaQueries(aws, "primary", results).run(sql, database)
    local = DuckDb()
    columns = ", ".join(f"{name} {_type_of(name)}" for name in answer.columns)
    local.put_table(
        "answer", columns, ({n: _text(v) for n, v in r.items()} for r in answer.records())
    )
    return local


def _type_of(column: str) -> str:
    if column.endswith("_at"):
        return "TIMESTAMP"
    return {"size_bytes": "BIGINT", "latest": "BOOLEAN"}.get(column, "VARCHAR")


def _text(value: Any) -> Any:  # noqa: ANN401 - of an answer
    return f"{value:%Y-%m-%d %H:%M:%S.%f}" if isinstance(value, datetime) else value


def _wait_for(address: str) -> None:
    deadline = time.monotonic() + _SECONDS
    while time.monotonic() < deadline:
        with suppress(urllib.error.URLError), urllib.request.urlopen(address):  # noqa: S310 - http
            return
        time.sleep(0.05)
    raise TimeoutError(address)
