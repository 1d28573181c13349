"""Athena over a snapshot in S3, whose rows stay there."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from secrets import token_hex
from typing import Final

from boto3.exceptions import Boto3Error
from boto3.s3.transfer import S3Transfer

from bucketsum.prices import ATHENA_BYTE
from bucketsum_cli.aws.connection import Connection
from bucketsum_cli.buckets.s3_place import S3Place
from bucketsum_cli.snapshots.athena_queries import AthenaQueries
from bucketsum_cli.snapshots.database import Answer, DuckDb
from bucketsum_cli.snapshots.folder import LISTING, ROWS, Snapshot
from bucketsum_cli.snapshots.glue_tables import (
    AthenaPlace,
    GlueTables,
    database_of,
    delete_tables,
)
from bucketsum_cli.snapshots.in_place import (
    EXPORT,
    LISTING_COLUMNS,
    LISTING_FILES,
    TRINO,
    SnapshotTables,
    all_of,
    form_of_tables,
)
from bucketsum_cli.snapshots.in_place_engine import InPlaceEngine
from bucketsum_cli.terminal.errors import CannotDoError
from bucketsum_cli.terminal.formatting import size_text, usd_text
from bucketsum_cli.terminal.hints import command_line
from bucketsum_cli.terminal.live_progress import spinner
from bucketsum_cli.terminal.output import confirm, note

_LEAST_BYTES: Final = 10 * 1024 * 1024
"""What a query is billed for at least."""
_ASKED_USD: Final = 1.0
_NAMED: Final = re.compile(r'"(bucketsum_\w+)"\."(\w+)"')
_PLANNED: Final = re.compile(r"(bucketsum_[0-9a-f]{16})(?::|, tableName=)(\w+)")
"""A table that is read, in an answer to EXPLAIN."""
_HIVE: Final = {
    "VARCHAR": "string", "BIGINT": "bigint", "INTEGER": "int", "DOUBLE": "double",
    "BOOLEAN": "boolean",
}  # fmt: skip
"""DuckDB's types of columns → Glue's."""


@contextmanager
def athena(aws: Connection, url: str, workgroup: str, *, yes: bool) -> Iterator[Athena]:
    """Yield an engine that writes below *url*; what only it needs is deleted."""
    own = AthenaPlace.new(url)
    try:
        yield Athena(aws, own, workgroup, yes=yes)
    finally:
        delete_tables(aws, own.database)


class Athena(InPlaceEngine):
    """The engine; `ask_of` names the snapshot that is asked."""

    def __init__(self, aws: Connection, own: AthenaPlace, workgroup: str, *, yes: bool) -> None:
        super().__init__(DuckDb(), SnapshotTables(own.database), own.database)
        self._aws = aws
        self._url = own.url
        self._yes = yes
        self._queries = AthenaQueries(aws, workgroup, _folder(own, "results"))
        self._databases = {own.database: GlueTables(aws, own)}
        self._sizes: dict[tuple[str, str], int] = {}

    def ask_of(self, snapshot: Snapshot) -> None:
        """Ask *snapshot* from now on.

        Raises:
            CannotDoError: Its rows are on this machine alone.
        """
        if not snapshot.url:
            raise CannotDoError(
                f"the snapshot {snapshot.folder} is on this machine, and Athena reads rows in S3: "
                "take one with "
                f"`{command_line('snapshot', '--via', 'export')}`, or leave out --athena"
            )
        rows, name = S3Place.of_folder(snapshot.url), database_of(snapshot)
        if name not in self._databases:
            tables = GlueTables(self._aws, AthenaPlace(self._url, name), form_of_tables())
            self._databases[name] = tables
            for table, columns, kind in (
                (EXPORT, {"item": TRINO.struct()}, ROWS),
                (LISTING_FILES, LISTING_COLUMNS, LISTING),
            ):
                tables.add(table, columns, "json", S3Place(rows.bucket, f"{rows.key}{kind}/"))
            self._measure(name)
        listings = (all_of(name, LISTING_FILES),) if snapshot.of_kind(LISTING) else ()
        self.tables = SnapshotTables(name, snapshot.rows, snapshot.listed, listings)

    def _measure(self, database: str) -> None:
        for table, size in self._databases[database].sizes().items():
            self._sizes[database, table] = size

    def _there(self) -> Collection[str]:
        return {table for database, table in self._sizes if database == self.tables.database}

    def _make(self, database: str, table: str, sql: str) -> None:
        self._price(sql, f"to write the table {table}, Athena")
        folder = _folder(self._databases[database].place, f"{table}_{token_hex(4)}")
        options = "" if self._queries.is_enforced else f", external_location = '{folder}'"
        with spinner(f"writing {table} ..."):
            self._run(
                f"CREATE TABLE {database}.{table} WITH (format = 'PARQUET'{options}) AS {sql}"
            )
        self._measure(database)

    def _drop(self) -> None:
        delete_tables(self._aws, self.tables.database)

    def _put(self, table: str, file: Path, types: Mapping[str, str]) -> None:
        folder = _folder(self._databases[self._own].place, table)
        try:
            with S3Transfer(self._aws.client("s3")) as transfer:
                transfer.upload_file(str(file), folder.bucket, f"{folder.key}0.parquet")
        except Boto3Error as error:
            raise CannotDoError(str(error)) from error
        columns = {column: _HIVE[kind] for column, kind in types.items()}
        self._databases[self._own].add(table, columns, "parquet", folder)
        self._sizes[self._own, table] = file.stat().st_size

    def _answer(self, sql: str) -> Answer:
        self._price(sql, "Athena")
        return self._run(sql)

    def _price(self, sql: str, who: str) -> None:
        """Note what a query costs at most; ask if that is much."""
        named = Counter(_NAMED.findall(sql))
        plan = (text for row in self._run(f"EXPLAIN {sql}") for text in row)
        planned = Counter(table for text in plan for table in _PLANNED.findall(text or ""))
        reads = named | planned
        scanned = max(_LEAST_BYTES, sum(self._sizes.get(t, 0) * n for t, n in reads.items()))
        usd = scanned * ATHENA_BYTE.each
        note(f"{who} scans at most {size_text(scanned)}, for {usd_text(usd)} USD")
        if usd > _ASKED_USD:
            confirm("Run it?", "nothing was run", yes=self._yes)

    def _run(self, sql: str) -> Answer:
        return self._queries.run(sql, self.tables.database)


def _folder(place: AthenaPlace, table: str) -> S3Place:
    return S3Place(place.files.bucket, f"{place.files.key}{table}/")
