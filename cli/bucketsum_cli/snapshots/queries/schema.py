"""Columns of a snapshot's tables: they follow from the codec of rows, for each dialect of SQL."""

from __future__ import annotations

import re
from collections.abc import Callable
from enum import EnumMeta, StrEnum
from typing import Final

from bucketsum.algorithms import EXTRA_ALGORITHMS
from bucketsum.table.items import DIGEST_PREFIX, SIZE_MAX
from bucketsum.table.row_parts import MemberRecord
from bucketsum.table.rows import Row, Status
from bucketsum.table.sequencer import padded_sequencer
from bucketsum.table.stored_fields import Attribute, schema_of

NAMES: Final = {"arrived_at": "created_at", "storage_class": "archived_class"}
"""Attribute → its column, if that has another name."""

_DIGESTS: Final = tuple(f"{DIGEST_PREFIX}{name}" for name in EXTRA_ALGORITHMS)
_APART: Final = frozenset({"sha1", "member", "crc32", "deleted_at", "expires_at"})
"""Attributes whose columns have an expression of their own in load.sql."""
_OF_MEMBERS: Final = frozenset(attribute.name for attribute in schema_of(MemberRecord))
_MARK: Final = re.compile(r"<[a-z_ ]+>")
_LAST_SECOND: Final = 253_402_300_799  # of the year 9999


class Dialect:
    """DuckDB's SQL for the fields of an item, ``i.NAME.S`` and ``i.NAME.N``."""

    inline = "NOT MATERIALIZED"
    """After AS, a part of a query that is made again for each use, of the columns needed there."""
    wide = "HUGEINT"
    """A type of whole numbers beyond 64 bits."""
    file = "parse_filename(filename)"
    """The file of a row of `export`."""
    export = """read_json($files, format = 'newline_delimited', records = 'true', filename = true,
    columns = {Item: 'STRUCT(<struct>)'})"""
    """The files of a snapshot; without `records`, lines are read twice, at a fourth the speed."""
    listed = """read_json($files, format = 'newline_delimited', records = 'true', columns = {
  bucket: 'VARCHAR', key: 'VARCHAR', version: 'VARCHAR', latest: 'BOOLEAN',
  size_bytes: 'BIGINT', etag: 'VARCHAR', created_at: 'TIMESTAMP', storage_class: 'VARCHAR'})"""
    """Versions that S3 has."""

    def is_text(self, name: str) -> str:
        """Whether an attribute is a text."""
        return f"i.{name}.S IS NOT NULL"

    def is_one_of(self, name: str, values: tuple[str, ...]) -> str:
        """Whether it is one of *values*."""
        allowed = ", ".join(f"'{value}'" for value in values)
        return f"coalesce(i.{name}.S, '') IN ({allowed})"

    def matches(self, name: str, pattern: str, kind: str = "S") -> str:
        """Whether all of it matches the regular expression *pattern*."""
        return f"coalesce(regexp_full_match(i.{name}.{kind}, '{pattern}'), false)"

    def is_number(self, name: str) -> str:
        """Whether it is a number."""
        return f"TRY_CAST(i.{name}.N AS DOUBLE) IS NOT NULL"

    def is_whole(self, name: str, least: int | None = None, most: int | None = None) -> str:
        """Whether it is a whole number, not less than *least* and not more than *most*."""
        number = f"TRY_CAST(i.{name}.N AS {self.wide})"
        bounds = f" BETWEEN {least} AND {most}" if least is not None else " IS NOT NULL"
        return f"({self.matches(name, '-?[0-9]+', 'N')} AND {number}{bounds})"

    def is_moment(self, name: str) -> str:
        """Whether it is a time as S3 writes it."""
        pattern = r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]{1,9})?Z"
        return f"({self.matches(name, pattern)} AND {self.time(name)} IS NOT NULL)"

    def time(self, name: str) -> str:
        """Its value as a time; null if it is not one."""
        return f"TRY_CAST(i.{name}.S AS TIMESTAMP)"

    def epoch(self, name: str) -> str:
        """The time of its value in seconds since 1970."""
        return f"make_timestamp({self.integer(name)} * 1000000)"

    def integer(self, name: str) -> str:
        """Its value as a whole number; null if that has more than 64 bits."""
        return f"TRY_CAST(i.{name}.N AS BIGINT)"

    def number(self, name: str) -> str:
        """Its value as a number."""
        return f"TRY_CAST(i.{name}.N AS DOUBLE)"

    def struct(self) -> str:
        """The type of an item: an attribute of another type is there, and null within."""
        return ", ".join(f"{name} STRUCT({kind} VARCHAR)" for name, kind in _kinds().items())


class TrinoDialect(Dialect):
    """The same in the SQL of Trino, which is Athena's."""

    inline = ""
    wide = "DECIMAL(38, 0)"
    file = """regexp_extract("$path", '[^/]*$')"""
    export = "export"
    listed = "listed_versions"

    def matches(self, name: str, pattern: str, kind: str = "S") -> str:
        """Whether all of it matches the regular expression *pattern*."""
        return rf"coalesce(regexp_like(i.{name}.{kind}, '\A(?:{pattern})\z'), false)"

    def time(self, name: str) -> str:
        """Its value as a time; null if it is not one: a date alone is not."""
        return time_of(f"i.{name}.S")

    def epoch(self, name: str) -> str:
        """The time of its value in seconds since 1970."""
        return f"CAST(from_unixtime({self.integer(name)}) AT TIME ZONE 'UTC' AS timestamp(3))"

    def struct(self) -> str:
        """The type of an item in Glue's words."""
        fields = ",".join(
            f"{name}:struct<{kind.lower()}:string>" for name, kind in _kinds().items()
        )
        return f"struct<{fields}>"


def time_of(text: str) -> str:
    """Trino's SQL for the time that a *text* is, with or without a zone; else null."""
    zoned = f"CASE WHEN strpos({text}, 'T') > 0 THEN {text} END"
    return f"CAST(try(from_iso8601_timestamp({zoned})) AT TIME ZONE 'UTC' AS timestamp(3))"


def literal(value: str | bool | int) -> str:  # noqa: FBT001 - a value
    """Trino's SQL for a *value*."""
    if isinstance(value, str):
        quoted = value.replace("'", "''")
        return f"CAST('{quoted}' AS varchar)"
    return str(value).lower()


def _kinds() -> dict[str, str]:
    """The attributes of an item → the type that each has, ``S`` or ``N``."""
    return {"object": "S", "entry": "S"} | {
        name: "N" if int in attribute.types else "S" for name, attribute in _attributes().items()
    }


def _attributes() -> dict[str, Attribute]:
    texts = [next(schema_of(Row))._replace(name=name, read=None, is_needed=False)
             for name in _DIGESTS]  # fmt: skip
    return {attribute.name: attribute for attribute in (*schema_of(Row), *texts)}


def object_columns() -> list[str]:
    """Columns of objects alone: those of the views that no query names."""
    named = {"status", "sha1", "reason", "size_bytes", "etag", "archived_class", "created_at"}
    named |= _OF_MEMBERS
    columns = [NAMES.get(attribute.name, attribute.name) for attribute in schema_of(Row)]
    return [name for name in columns if name not in named]


def filled(text: str, dialect: Dialect) -> str:
    """The loading query *text* with what follows from the schema."""
    parts: dict[str, Callable[[], str]] = {
        "<inline>": lambda: dialect.inline,
        "<file>": lambda: dialect.file,
        "<export>": lambda: dialect.export.replace("<struct>", dialect.struct()),
        "<listed>": lambda: dialect.listed,
        "<sequencer>": lambda: dialect.matches("sequencer", "[0-9A-F]{32}"),
        "<deleted_at>": lambda: dialect.time("deleted_at"),
        "<expires_at>": lambda: dialect.epoch("expires_at"),
        "<damage>": lambda: ",\n".join(_damage(dialect, is_deletion=False)),
        "<deletion damage>": lambda: ",\n".join(_damage(dialect, is_deletion=True)),
        "<columns>": lambda: ",\n".join(_columns(dialect)),
    }
    return _MARK.sub(lambda mark: parts[mark[0]](), text)


def _columns(dialect: Dialect) -> list[str]:
    columns = []
    for name, attribute in _attributes().items():
        if name in _APART or name in _DIGESTS or name in ("status", "reason", "sequencer"):
            continue
        if float in attribute.types:
            value = dialect.number(name)
        elif int in attribute.types:
            value = dialect.integer(name)
        else:
            value = dialect.time(name) if name.endswith("_at") else f"i.{name}.S"
        columns.append(f"CASE WHEN whole THEN {value} END AS {NAMES.get(name, name)}")
    return columns


def _damage(dialect: Dialect, *, is_deletion: bool) -> list[str]:
    """Expressions that are the name of an attribute if it is damaged, by the rules of `row_of`."""
    return [
        f"CASE WHEN {_is_right(dialect, attribute)} THEN NULL ELSE '{name}' END"
        for name, attribute in _attributes().items()
        if ("deletion_sequencer" in attribute.part) == is_deletion
    ]


def _is_right(dialect: Dialect, attribute: Attribute) -> str:
    name = attribute.name
    own = {
        "status": dialect.is_one_of(name, tuple(s for s in Status if s is not Status.DAMAGED)),
        "sha1": f"CASE WHEN i.status.S = '{Status.HASHED}' "
        f"THEN {dialect.matches(name, '[0-9a-f]{40}')} "
        f"ELSE i.sha1 IS NULL OR {dialect.is_text(name)} END",
        "size_bytes": dialect.is_whole(name, 0, SIZE_MAX),
        "arrived_at": dialect.is_moment(name),
        "expires_at": f"({dialect.is_whole(name, 0, _LAST_SECOND)} "
        f"OR (is_tombstone AND {dialect.is_whole(name)}))",
    }
    right = own.get(name) or _is_of_kind(dialect, attribute)
    if not attribute.is_needed and name != "sha1":
        right = f"(i.{name} IS NULL OR {right})"
    if attribute.part:
        absent = " AND ".join(f"i.{other} IS NULL" for other in attribute.part)
        right = f"({absent}) OR {right}"
    return right


def _is_of_kind(dialect: Dialect, attribute: Attribute) -> str:
    name, read = attribute.name, attribute.read
    if isinstance(read, EnumMeta) and issubclass(read, StrEnum):
        return dialect.is_one_of(name, tuple(read))
    if read is padded_sequencer:
        return dialect.matches(name, "[0-9A-F]{32}")
    if float in attribute.types:
        return dialect.is_number(name)
    return dialect.is_whole(name) if int in attribute.types else dialect.is_text(name)
