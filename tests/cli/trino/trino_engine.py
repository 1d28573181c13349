"""The engine of Athena's questions over a real Trino, in place of Athena and Glue."""

import re
import shutil
from collections.abc import Collection, Mapping
from pathlib import Path
from secrets import token_hex
from typing import Final

from tests.cli.trino.trino_server import Trino

from bucketsum_cli.buckets.s3_place import S3Place
from bucketsum_cli.snapshots.database import Answer, Database, DuckDb
from bucketsum_cli.snapshots.folder import Snapshot
from bucketsum_cli.snapshots.in_place import (
    EXPORT,
    LISTING_COLUMNS,
    LISTING_FILES,
    TRINO,
    SnapshotTables,
)
from bucketsum_cli.snapshots.in_place_engine import InPlaceEngine, answer_of

_STRUCT: Final = re.compile(r"struct<([^<>]*)>")


class TrinoEngine(InPlaceEngine):
    """Trino in place of Athena, with folders in place of prefixes."""

    def __init__(self, trino: Trino) -> None:
        own = f"own_{token_hex(4)}"
        super().__init__(DuckDb(), SnapshotTables(own), own)
        self._trino = trino
        trino.run(f"CREATE SCHEMA {own}")

    def ask_of(self, snapshot: Snapshot) -> None:
        """Ask *snapshot*, whose files are copied, from now on."""
        name = f"snapshot_{token_hex(4)}"
        self._trino.run(f"CREATE SCHEMA {name}")
        for table, kind, types in (
            (EXPORT, "data", {"item": TRINO.struct()}),
            (LISTING_FILES, "listing", LISTING_COLUMNS),
        ):
            place = f"{name}_files/{kind}"
            shutil.copytree(snapshot.folder / kind, self._trino.folder / place)
            columns = {column: trino_type(hive) for column, hive in types.items()}
            self._create(f"{name}.{table}", columns, "OPENX_JSON", place)
        self.tables = SnapshotTables(name, snapshot.rows, snapshot.listed)

    def _there(self) -> Collection[str]:
        _, rows = self._trino.run(f"SHOW TABLES FROM {self.tables.database}")
        return [str(name) for (name,) in rows]

    def _make(self, database: str, table: str, sql: str) -> None:
        self._trino.run(f"CREATE TABLE {database}.{table} WITH (format = 'PARQUET') AS {sql}")

    def _drop(self) -> None:
        self._trino.run(f"DROP SCHEMA {self.tables.database} CASCADE")

    def _put(self, table: str, file: Path, types: Mapping[str, str]) -> None:
        place = f"{self._own}_files/{table}"
        (self._trino.folder / place).mkdir(parents=True)
        shutil.copy(file, self._trino.folder / place)
        self._create(f"{self._own}.{table}", types, "PARQUET", place)

    def _create(self, table: str, types: Mapping[str, str], form: str, place: str) -> None:
        columns = ", ".join(f"{name} {kind}" for name, kind in types.items())
        self._trino.run(
            f"CREATE TABLE {table} ({columns}) WITH (format = '{form}', "
            f"external_location = 'local:///{place}')"
        )

    def _unload(self, sql: str, place: S3Place) -> None:
        """Trino has no UNLOAD: a table has the same answer."""
        self._make(self._own, place.key, sql)

    def own_rows(self, table: str) -> Answer:
        """The rows of a *table* of this process."""
        return self._answer(f"SELECT * FROM {self._own}.{table}")  # noqa: S608 - names of ours

    def _answer(self, sql: str) -> Answer:
        return answer_of(*self._trino.run(sql))


def trino_type(hive: str) -> str:
    """Trino's word for a type of Glue's."""
    kind = hive.replace("string", "varchar")
    while "<" in kind:
        kind = _STRUCT.sub(lambda match: f"ROW({match[1].replace(':', ' ')})", kind)
    return kind


def open_in_trino(trino: Trino, snapshot: Snapshot) -> Database:
    """The database of *snapshot*, asked by Trino."""
    engine = TrinoEngine(trino)
    engine.ask_of(snapshot)
    return Database(engine.local, engine)
