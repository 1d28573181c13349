"""Tables over a snapshot's files where they lie: which are made of which."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Final

from bucketsum_cli.snapshots.database import Question
from bucketsum_cli.snapshots.folder import Listed
from bucketsum_cli.snapshots.queries import definitions
from bucketsum_cli.snapshots.queries.schema import TrinoDialect, literal, time_of

TRINO: Final = TrinoDialect()
EXPORT: Final = "export"
"""The external table of DynamoDB's files: a column ``item`` of the type `TrinoDialect.struct`."""
LISTING_FILES: Final = "listing_files"
"""The external table of the files of a listing."""
LISTING_COLUMNS: Final = {
    "bucket": "string", "key": "string", "version": "string", "latest": "boolean",
    "size_bytes": "bigint", "etag": "string", "created_at": "string", "storage_class": "string",
}  # fmt: skip
_VERSION: Final = (
    "bucket, key, version, latest, size_bytes, etag, "
    f"{time_of('created_at')} AS created_at, storage_class"
)
_UNTIL: Final = "CAST(nullif(until, '') AS timestamp(3))"
ITEMS: Final = "items"
MADE: Final = (ITEMS, "listing", "versions", "members", "deletions")
"""Tables that are written: others are part of a query that names them."""

_WORD: Final = re.compile(r"\w+")
_COMMENTS: Final = re.compile(r"\A(?:\s*--[^\n]*\n)+")
_WITH: Final = re.compile(r"\s*WITH(\s+RECURSIVE)?\b", re.IGNORECASE)

_definitions = cache(lambda: definitions(TRINO))


@dataclass(frozen=True, slots=True)
class SnapshotTables:
    """The tables of a snapshot, in a database of its own.

    Attributes:
        rows: Number of its items, by its list.
        listed: The keys that it has a listing of.
        listings: Queries of versions in inventories, with the columns of the listing.
    """

    database: str
    rows: int = 0
    listed: tuple[Listed, ...] = ()
    listings: tuple[str, ...] = ()

    @property
    def parts(self) -> dict[str, str]:
        """All that a query may name → a query of its rows, which may name earlier ones."""
        files = all_of(self.database, LISTING_FILES, _VERSION)
        keys = [(k.bucket, k.prefix, k.until[:19].replace("T", " ")) for k in self.listed]
        listed = _values(keys or [("",) * 3], "bucket", "prefix", "until", where=str(bool(keys)))
        parts = {
            EXPORT: all_of(self.database, EXPORT, '*, "$path"'),
            "listed": f"SELECT bucket, prefix, {_UNTIL} AS until FROM ({listed}) l",  # noqa: S608 - names of ours
            "listed_versions": " UNION ALL ".join([files, *self.listings]),
        }
        parts |= {name: all_of(self.database, name) for name in MADE}
        return parts | {name: sql for name, sql in _definitions().items() if name not in MADE}

    def missing(self, sql: str, there: Collection[str]) -> Iterator[str]:
        """Yield what is to be made for *sql* of what is not *there*, in order."""
        wanted = {*_named(sql, self.parts)}
        for name in reversed(MADE):
            if name in wanted and name not in there:
                wanted |= {*_named(_definitions()[name], self._before(name))}
        yield from (name for name in MADE if name in wanted and name not in there)

    def making(self, name: str) -> str:
        """The query of a table of `MADE`."""
        return with_parts(_definitions()[name], self._before(name))

    def _before(self, name: str) -> dict[str, str]:
        names = [*self.parts]
        return {part: self.parts[part] for part in names[: names.index(name)]}


def form_of_tables() -> str:
    """A text that is another one if another version of bucketsum would make other tables."""
    text = f"{TRINO.struct()}{LISTING_COLUMNS}{_definitions()}"
    return hashlib.sha256(text.encode()).hexdigest()


def all_of(database: str, table: str, columns: str = "*") -> str:
    """A query of the rows of a *table*."""
    return f'SELECT {columns} FROM "{database}"."{table}"'  # noqa: S608 - names of ours


def without_heading(sql: str) -> str:
    """*sql* without the comments before it."""
    return _COMMENTS.sub("", sql, 1)


def with_parts(sql: str, parts: Mapping[str, str]) -> str:
    """*sql* with the *parts* that it names, also through others."""
    heads = [f"{name} AS (\n{parts[name]}\n)" for name in _named(sql, parts)]
    own = _WITH.match(sql)
    if not heads:
        return sql
    rest = f",{sql[own.end() :]}" if own else f"\n{sql}"
    return f"WITH{own[1] or '' if own else ''} {', '.join(heads)}{rest}"


def _named(sql: str, parts: Mapping[str, str]) -> list[str]:
    """The *parts* that *sql* names, also through others, in their order."""
    words, named = words_of(sql), []
    for name in reversed([*parts]):
        if name in words:
            named.append(name)
            words |= words_of(parts[name])
    return named[::-1]


def words_of(sql: str) -> set[str]:
    """Every name that *sql* may have, in lower case as engines read them."""
    return {*_WORD.findall(sql.lower())}


def question_part(question: Question) -> dict[str, str]:
    """The table ``question`` of one row, as a part of a query."""
    return {"question": _values([tuple(question.values())], *question)} if question else {}


def _values(
    rows: Sequence[tuple[str | int | bool, ...]], *columns: str, where: str = "true"
) -> str:
    """A query of *rows*."""
    return " UNION ALL ".join(
        f"SELECT {', '.join(f'{literal(v)} AS {c}' for v, c in zip(row, columns, strict=True))}"
        f" WHERE {where}"
        for row in rows
    )
