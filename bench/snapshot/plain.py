"""The same questions for plain DuckDB over the same files, as a person would write them."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final

import duckdb

_ITEM: Final = "object entry status sha1 etag arrived_at recorded_at"
_TABLES: Final = """
CREATE TABLE items AS SELECT split_part(Item.object.S, '/', 1) AS bucket,
  substr(Item.object.S, strpos(Item.object.S, '/') + 1) AS key, Item.entry.S AS version,
  Item.status.S AS status, Item.sha1.S AS sha1, CAST(Item.size_bytes.N AS BIGINT) AS size_bytes,
  Item.etag.S AS etag, CAST(Item.arrived_at.S AS TIMESTAMP) AS arrived_at,
  CAST(Item.recorded_at.S AS TIMESTAMP) AS recorded_at
FROM read_json($items, format = 'newline_delimited', records = 'true', columns = $item);
CREATE TABLE listing AS FROM read_json($listing, format = 'newline_delimited', records = 'true',
  columns = {bucket: 'VARCHAR', key: 'VARCHAR', version: 'VARCHAR', latest: 'BOOLEAN',
  size_bytes: 'BIGINT', etag: 'VARCHAR', created_at: 'TIMESTAMP', storage_class: 'VARCHAR'});
CREATE VIEW present AS SELECT l.*, i.status, i.sha1
FROM listing l LEFT JOIN items i USING (bucket, key, version) WHERE l.latest"""
QUERIES: Final = {
    "count": "SELECT count(*) FROM items",
    "duplicates": """WITH copies AS (SELECT sha1, count(*) AS n FROM present GROUP BY sha1
      HAVING n > 1 ORDER BY any_value(size_bytes) * (n - 1) DESC LIMIT 20)
      SELECT sha1, n, bucket, key, version FROM copies JOIN present USING (sha1) ORDER BY ALL""",
    "coverage": "SELECT bucket, split_part(key, '/', 1), storage_class, status, count(*), "
    "sum(size_bytes) FROM present GROUP BY ALL",
    "export": "SELECT sha1 || '  ' || key FROM present ORDER BY key",
    "find": "SELECT w.sha1, i.bucket, i.key, i.version, i.size_bytes, i.arrived_at, i.status "
    "FROM read_csv('wanted', all_varchar = true) w LEFT JOIN items i USING (sha1) ORDER BY ALL",
    "compare": "SELECT CASE WHEN a.sha1 = b.sha1 THEN 'equal' ELSE 'differs' END, count(*) "
    "FROM present a FULL JOIN other.present b USING (key) GROUP BY ALL",
}
"""Question → query; ``wanted`` is the list's path."""


def database_of(folder: Path) -> Path:
    """The file with the tables of a snapshot, which are made the first time."""
    file = folder.with_name(f"plain-{folder.name}.duckdb")
    if not file.exists():
        kinds = dict.fromkeys(_ITEM.split(), "S") | {"size_bytes": "N"}
        item = ", ".join(f"{name} STRUCT({kind} VARCHAR)" for name, kind in kinds.items())
        values = {"items": f"{folder}/data/*.gz", "listing": f"{folder}/listing/*.gz"}
        with duckdb.connect(str(file)) as connection:
            for statement in connection.extract_statements(_TABLES):
                given = {**values, "item": {"Item": f"STRUCT({item})"}}
                names = statement.named_parameters
                connection.execute(statement.query, {name: given[name] for name in names})
    return file


def answer(question: str, folder: Path, other: Path, wanted: Path) -> Iterable[tuple[Any, ...]]:
    """Yield the rows of an answer."""
    with duckdb.connect(str(database_of(folder)), read_only=True) as connection:
        connection.execute(f"ATTACH '{database_of(other)}' AS other (READ_ONLY)")
        connection.execute(QUERIES[question].replace("'wanted'", f"'{wanted}'"))
        while rows := connection.fetchmany(1000):
            yield from rows
