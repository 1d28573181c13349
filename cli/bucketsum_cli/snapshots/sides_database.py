"""Two sides that are compared, as tables: ``left_side`` and ``right_side``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bucketsum_cli.snapshots.database import Database, DuckDb
from bucketsum_cli.snapshots.queries import query_text
from bucketsum_cli.snapshots.tables import tables_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from bucketsum_cli.snapshots.folder import Snapshot


class SidesDatabase(Database):
    """A database of two sides, which is of no snapshot."""

    def __init__(self) -> None:
        super().__init__(DuckDb())

    def put_objects(
        self, table: str, snapshot: Snapshot, query: str, keys: Mapping[str, str]
    ) -> None:
        """Make the *table* of a side from the *query* of a snapshot; its question is *keys*."""
        tables = tables_of(snapshot)
        self.local.execute("ATTACH $file AS asked (READ_ONLY)", {"file": str(tables)})
        self.local.execute("USE asked")
        self.local.put_question(keys)
        self.local.execute(f"CREATE OR REPLACE TEMP TABLE {table} AS {query_text(query)}")
        self.local.execute("USE memory")
        self.local.execute("DETACH asked")
