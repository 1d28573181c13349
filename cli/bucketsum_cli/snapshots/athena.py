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
from bucketsum_cli.snapshots import in_place
from bucketsum_cli.snapshots.athena_queries import AthenaQueries
from bucketsum_cli.snapshots.database import Answer, DuckDb
from bucketsum_cli.snapshots.folder import LISTING, LIVE, ROWS, Listed, Snapshot
from bucketsum_cli.snapshots.glue_tables import (
    AthenaPlace,
    GlueTables,
    database_of,
    delete_tables,
)
from bucketsum_cli.snapshots.in_place_engine import InPlaceEngine
from bucketsum_cli.snapshots.inventories import (
    columns_of,
    links_at,
    live_listing,
    live_name,
    live_table,
    manifest_listing,
)
from bucketsum_cli.terminal.confirmation import confirm
from bucketsum_cli.terminal.errors import CannotDoError
from bucketsum_cli.terminal.formatting import size_text, usd_text
from bucketsum_cli.terminal.hints import command_line
from bucketsum_cli.terminal.live_progress import spinner
from bucketsum_cli.terminal.output import note

_LEAST_BYTES: Final = 10 * 1024 * 1024
"""What a query is billed for at least."""
_ASKED_USD: Final = 1.0
_PLANNED: Final = re.compile(
    r"Scan\w*\[(?:table = )?[^:\[\]]+:(?:HiveTableHandle\{schemaName=)?"
    r"([\w-]+)(?::|\.|, tableName=)([\w-]+)"
)
"""A database and a table of it that is read, in an answer to EXPLAIN."""
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
        super().__init__(DuckDb(), in_place.SnapshotTables(own.database), own.database)
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
            tables = GlueTables(self._aws, AthenaPlace(self._url, name), in_place.form_of_tables())
            self._databases[name] = tables
            for table, columns, kind in (
                (in_place.EXPORT, {"item": in_place.TRINO.struct()}, ROWS),
                (in_place.LISTING_FILES, in_place.LISTING_COLUMNS, LISTING),
            ):
                tables.add(table, columns, "json", S3Place(rows.bucket, f"{rows.key}{kind}/"))
            self._measure(name)
        listings = tuple(
            self._inventory(name, f"inventory_{number}", keys)
            for number, keys in enumerate(snapshot.listed)
            if keys.inventory and (name, "listing") not in self._sizes
        )
        self.tables = in_place.SnapshotTables(name, snapshot.rows, snapshot.listed, listings)

    def _inventory(self, database: str, table: str, keys: Listed) -> str:
        """A query of the versions in the inventory of *keys*, over a *table* of its files."""
        s3, tables = self._aws.client("s3"), self._databases[database]
        if keys.inventory == LIVE:
            live = live_table(s3, keys.bucket)
            listing, files = live_listing(live, keys), live_name(live, "$files")
            [(size,)] = self._run(f"SELECT sum(file_size_in_bytes) FROM {files}")  # noqa: S608 - quoted
            self._sizes[live] = size or 0
            return listing
        manifest, links = links_at(s3, keys.inventory)
        folder = _folder(tables.place, table)
        s3.put_object(Bucket=folder.bucket, Key=f"{folder.key}symlink.txt", Body=links.encode())
        form, size = manifest.file_format.lower(), sum(file.size_bytes for file in manifest.files)
        tables.add(table, columns_of(manifest), f"links to {form}", folder, size)
        self._measure(database)
        return manifest_listing(f'"{database}"."{table}"', keys, manifest)

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
            self._queries.execute(
                f"CREATE TABLE {database}.{table} WITH (format = 'PARQUET'{options}) AS {sql}",
                self.tables.database,
            )
        self._measure(database)

    def _unload(self, sql: str, place: S3Place) -> None:
        self._price(sql, f"to write {place}, Athena")
        quoted = str(place).replace("'", "''")
        with spinner(f"writing {place} ..."):
            self._queries.execute(
                f"UNLOAD ({sql}) TO '{quoted}' WITH (format = 'PARQUET')", self.tables.database
            )

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
        named = Counter({table: sql.count('"{}"."{}"'.format(*table)) for table in self._sizes})
        plan = (text for row in self._run(f"EXPLAIN {sql}") for text in row)
        reads = named | Counter(table for text in plan for table in _PLANNED.findall(text or ""))
        others = [".".join(table) for table in reads if table not in self._sizes]
        scanned = max(_LEAST_BYTES, sum(self._sizes.get(t, 0) * n for t, n in reads.items()))
        usd = scanned * ATHENA_BYTE.each
        note(f"{who} scans at most {size_text(scanned)}, for {usd_text(usd)} USD")
        if others:
            note(f"it also reads {', '.join(others)}, whose size is not known, nor in the price")
        if usd > _ASKED_USD or others:
            confirm("Run it?", "nothing was run", yes=self._yes)

    def _run(self, sql: str) -> Answer:
        return self._queries.run(sql, self.tables.database)


def _folder(place: AthenaPlace, table: str) -> S3Place:
    return S3Place(place.files.bucket, f"{place.files.key}{table}/")
