"""Two sides that are compared, as tables: ``left_side`` and ``right_side``."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Final

from bucketsum_cli.snapshots.database import Database, DuckDb, Question
from bucketsum_cli.snapshots.folder import Snapshot
from bucketsum_cli.snapshots.in_place_engine import InPlaceEngine
from bucketsum_cli.snapshots.manifest_rows import COLUMNS
from bucketsum_cli.snapshots.queries import query_text
from bucketsum_cli.snapshots.tables import attach

LISTED: Final = "listed_side"
"""The query of objects that are compared with a list."""
_MORE: Final = {"listed_versions": "?versionId=", "listed_members": "!/"}
"""Queries of what a list may name besides current objects, and how such names look."""


class SidesDatabase(Database):
    """A database of two sides, which is of no snapshot."""

    def __init__(
        self,
        engine: InPlaceEngine | None = None,
        fetch: Callable[[Snapshot], Snapshot] = lambda snapshot: snapshot,
    ) -> None:
        """Sides of snapshots that *engine* reads where they lie, or that *fetch* has fetched."""
        super().__init__(engine.local if engine else DuckDb(), engine)
        self._in_place = engine
        self._fetch = fetch

    def put_list(self, rows: Iterable[Mapping[str, Any]]) -> None:
        """Make the table ``lines`` of a list, which becomes a side by `put_listed`."""
        self.local.put_table("lines", COLUMNS, rows)

    def put_listed(self, table: str) -> int:
        """Make the *table* of a side from the list; returns how many lines repeat a name."""
        self._keep(table, "list_side")
        [(repeated,)] = self.engine.run(
            f"SELECT (SELECT count(*) FROM lines) - (SELECT count(*) FROM {table})"  # noqa: S608 - a name of ours
        )
        return int(repeated)

    def buckets_of_list(self) -> list[str]:
        """The buckets of a report of S3, if the list is one."""
        buckets = self.local.run("SELECT DISTINCT bucket FROM lines WHERE bucket <> '' ORDER BY 1")
        return [record["bucket"] for record in buckets.records()]

    def put_objects(
        self, table: str, snapshot: Snapshot, query: str, keys: Mapping[str, str]
    ) -> None:
        """Make the *table* of a side from the *query* of a snapshot; its question is *keys*.

        The queries of `LISTED` compare it with the list, whose names they may change.
        """
        with self._asked(snapshot):
            queries = [query]
            if query == LISTED:
                self._keep("lines", "report_lines", question=keys)
                queries += [more for more, mark in _MORE.items() if self._is_in_a_name(mark)]
            self._keep(table, *queries, question=keys)

    @contextmanager
    def _asked(self, snapshot: Snapshot) -> Iterator[None]:
        """Queries in the block are about *snapshot*."""
        if self._in_place:
            self._in_place.ask_of(snapshot)
            yield
            return
        attach(self.local, "asked", self._fetch(snapshot))
        self.local.execute("USE asked")
        yield
        self.local.execute("USE memory")
        self.local.execute("DETACH asked")

    def _is_in_a_name(self, mark: str) -> bool:
        names = self.engine.run(f"SELECT name FROM lines WHERE strpos(name, '{mark}') > 0 LIMIT 1")  # noqa: S608 - a text of ours
        return bool([*names])

    def _keep(self, table: str, *queries: str, question: Question | None = None) -> None:
        """Make the *table* of the answers to *queries*."""
        texts = (query_text(query, self.engine.dialect) for query in queries)
        self.engine.keep(table, "\nUNION ALL\n".join(texts), question)
