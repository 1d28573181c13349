"""An engine that answers from a snapshot's files where they lie, and makes the tables it needs."""

from __future__ import annotations

import re
import secrets
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from bucketsum_cli.buckets.s3_place import S3Place
from bucketsum_cli.snapshots import in_place
from bucketsum_cli.snapshots.database import Answer, DuckDb, Question
from bucketsum_cli.snapshots.folder import Snapshot
from bucketsum_cli.snapshots.queries import query_text
from bucketsum_cli.snapshots.queries.schema import Dialect
from bucketsum_cli.snapshots.statements import JUDGED, require_view
from bucketsum_cli.terminal.errors import CannotDoError
from bucketsum_cli.terminal.hints import command_line

_QUERY: Final = re.compile(r"\s*(SELECT|WITH)\b", re.IGNORECASE)
_TEXT: Final = re.compile("'[^']*'")
_TEMPORARY: Final = "SELECT table_name, table_oid FROM duckdb_tables() WHERE temporary"
_OWN_PART: Final = r"\b({})\s*(\([^()]*\)\s*)?AS\s*((NOT\s+)?MATERIALIZED\s*)?\("
"""A part of a person's WITH, or a window, with one of these names."""


def _time(text: str) -> datetime | str:
    """The time in UTC; the text, if Python cannot have it."""
    try:
        return datetime.fromisoformat(text).replace(tzinfo=UTC)
    except ValueError:
        return text


_READ: Final[Mapping[str, Callable[[str], Any]]] = {
    "bigint": int, "integer": int, "double": float, "boolean": lambda text: text == "true",
    "timestamp": _time,
}  # fmt: skip
"""Types of columns → the value of a text in an answer."""


class InPlaceEngine(ABC):
    """A `QueryEngine` over a snapshot in S3; all else that a question needs is small, and copied.

    Attributes:
        tables: Of the snapshot that is asked.
        local: Keeps the small tables of questions.
    """

    dialect: Dialect = in_place.TRINO

    def __init__(self, local: DuckDb, tables: in_place.SnapshotTables, own: str) -> None:
        """Copy the temporary tables of *local* to the database *own*, of this process alone."""
        self.tables = tables
        self.local = local
        self._own = own
        self._kept: dict[str, str] = {}
        self._copied: dict[tuple[str, int], str] = {}

    def lock(self) -> None:  # noqa: B027 - nothing is locked: permissions are the person's
        """Prepare for queries of a person."""

    def select(self, sql: str) -> Answer:
        """Run a person's query.

        Raises:
            CannotDoError: It does not begin with SELECT or WITH, its WITH has a view's name, or the
                engine refuses it.
        """
        if not _QUERY.match(in_place.without_heading(sql)):
            raise CannotDoError("a query for Athena must begin with SELECT or WITH")
        names = _OWN_PART.format("|".join(self.tables.parts))
        if own := re.search(names, sql, re.IGNORECASE):
            raise CannotDoError(f"{own[1]} is a view of the snapshot: choose another name in WITH")
        views = in_place.words_of(_TEXT.sub("", sql)) & {"listing", *JUDGED}
        for view in views if not self.tables.listed else ():
            require_view(view, sql)
        return self.run(sql.rstrip().removesuffix(";"))

    def run(self, sql: str, question: Question | None = None) -> Answer:
        """Run one query; of the tables that it needs, those that are not there are made."""
        return self._answer(self._complete(sql, question or {}))

    def keep(self, name: str, sql: str, question: Question | None = None) -> None:
        """Make the table *name*, of this process alone, of the answer to a query of ours."""
        table = self._table(name)
        self._make(self._own, table, self._complete(sql, question or {}))
        self._kept[name] = in_place.all_of(self._own, table)

    def unload(self, query: str, place: S3Place, question: Question) -> None:
        """Write the answer to the *query* of that name to *place*, where nothing is, in Parquet."""
        self._unload(self._complete(query_text(query, self.dialect), question), place)

    def _complete(self, sql: str, question: Question) -> str:
        """The *sql* with the rows of all that it names."""
        sql = in_place.without_heading(sql)
        own = in_place.question_part(question) | self._small_tables(sql) | self._kept
        for name in self.tables.missing(sql, self._there()):
            self._make(self.tables.database, name, self.tables.making(name))
            if name == in_place.ITEMS:
                self._require_rows()
        return in_place.with_parts(sql, own | self.tables.parts)

    def _require_rows(self) -> None:
        """Refuse to answer from fewer or more rows than the snapshot's list says."""
        items = in_place.all_of(self.tables.database, in_place.ITEMS, "count(*)")
        [(rows,)] = self._answer(items)
        if rows != self.tables.rows:
            self._drop()
            listed = f"{self.tables.rows:,}"
            raise CannotDoError(
                f"the files of the snapshot have {rows:,} rows, its list says {listed}; it is not "
                f"whole, take another with `{command_line('snapshot')}`"
            )

    def _small_tables(self, sql: str) -> dict[str, str]:
        """Copy the temporary tables that *sql* names."""
        parts = {}
        for name, edition in [*self.local.run(_TEMPORARY)]:
            if name in in_place.words_of(sql) and name not in self._kept:
                if (name, edition) not in self._copied:
                    self._copied[name, edition] = self._copy_of(name)
                parts[name] = in_place.all_of(self._own, self._copied[name, edition])
        return parts

    def _copy_of(self, name: str) -> str:
        table = self._table(name)
        with TemporaryDirectory(prefix="bucketsum-") as folder:
            file = Path(folder, "0.parquet")
            self._put(table, file, self.local.write_parquet(f"FROM {name}", file))
        return table

    def _table(self, name: str) -> str:
        return f"{name}_{secrets.token_hex(4)}"

    @abstractmethod
    def ask_of(self, snapshot: Snapshot) -> None:
        """Ask *snapshot* from now on."""

    @abstractmethod
    def _there(self) -> Collection[str]:
        """Tables that are there."""

    @abstractmethod
    def _make(self, database: str, table: str, sql: str) -> None:
        """Write the answer to *sql* as a *table* of a *database*."""

    @abstractmethod
    def _drop(self) -> None:
        """Delete all tables of the snapshot."""

    @abstractmethod
    def _put(self, table: str, file: Path, types: Mapping[str, str]) -> None:
        """Copy a *file* of Parquet as a *table* of this process; *types* are DuckDB's."""

    @abstractmethod
    def _unload(self, sql: str, place: S3Place) -> None:
        """Write the answer to *sql* to *place*, in Parquet."""

    @abstractmethod
    def _answer(self, sql: str) -> Answer:
        """The answer to *sql*."""


def answer_of(columns: Sequence[tuple[str, str]], rows: Iterable[Sequence[str | None]]) -> Answer:
    """The answer with these names and types of *columns*, and *rows* of texts."""
    readers = [_READ.get(kind.partition("(")[0], str) for _, kind in columns]
    return Answer(
        [name for name, _ in columns],
        (
            tuple(
                None if text is None else reader(text)
                for reader, text in zip(readers, row, strict=True)
            )
            for row in rows
        ),
    )
