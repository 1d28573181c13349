"""Two sides that are compared, as tables: ``left_side`` and ``right_side``."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from bucketsum.algorithms import ALGORITHMS
from bucketsum_cli.snapshots.database import Database, DuckDb
from bucketsum_cli.snapshots.folder import Snapshot
from bucketsum_cli.snapshots.manifest_rows import COLUMNS
from bucketsum_cli.snapshots.queries import query_text
from bucketsum_cli.snapshots.tables import tables_of

LISTED: Final = "listed_side"
"""The query of objects that are compared with a list."""
_MORE: Final = {"listed_versions": "?versionId=", "listed_members": "!/"}
"""Queries of what a list may name besides current objects, and how such names look."""


class SidesDatabase(Database):
    """A database of two sides, which is of no snapshot."""

    def __init__(self) -> None:
        super().__init__(DuckDb())

    def put_list(self, rows: Iterable[Mapping[str, Any]]) -> None:
        """Make the table ``lines`` of a list, which becomes a side by `put_listed`."""
        self.local.put_table("lines", COLUMNS, rows)

    def put_listed(self, table: str) -> int:
        """Make the *table* of a side from the list; returns how many lines repeat a name."""
        self._put(table, "list_side")
        counts = self.local.run(
            f"SELECT (SELECT count(*) FROM lines) - (SELECT count(*) FROM {table}) AS repeated"  # noqa: S608 - a name of ours
        )
        return sum(record["repeated"] for record in counts.records())

    def buckets_of_list(self) -> list[str]:
        """The buckets of a report of S3, if the list is one."""
        buckets = self.local.run("SELECT DISTINCT bucket FROM lines WHERE bucket <> '' ORDER BY 1")
        return [record["bucket"] for record in buckets.records()]

    def algorithms(self, table: str) -> list[str]:
        """The algorithms of the digests in a side."""
        columns = ", ".join(f"count({name})" for name in ALGORITHMS)
        [counts] = self.local.run(f"SELECT {columns} FROM {table}")  # noqa: S608 - names of ours
        return [name for name, count in zip(ALGORITHMS, counts, strict=True) if count]

    def put_objects(
        self, table: str, snapshot: Snapshot, query: str, keys: Mapping[str, str]
    ) -> None:
        """Make the *table* of a side from the *query* of a snapshot; its question is *keys*.

        The queries of `LISTED` compare it with the list, whose names they may change.
        """
        tables = tables_of(snapshot)
        self.local.execute("ATTACH $file AS asked (READ_ONLY)", {"file": str(tables)})
        self.local.execute("USE asked")
        self.local.put_question(keys)
        if query == LISTED:
            self._put("lines", "report_lines")
        self._put(table, query)
        for more, mark in _MORE.items() if query == LISTED else ():
            names = self.local.run(f"SELECT 1 FROM lines WHERE contains(name, '{mark}') LIMIT 1")  # noqa: S608 - a text of ours
            if [*names.records()]:
                self.local.execute(f"INSERT INTO {table} {query_text(more)}")
        self.local.execute("USE memory")
        self.local.execute("DETACH asked")

    def _put(self, table: str, query: str) -> None:
        self.local.execute(f"CREATE OR REPLACE TEMP TABLE {table} AS {query_text(query)}")
