"""Questions of a snapshot, each in a file of SQL."""

from __future__ import annotations

import re
from importlib.resources import files
from typing import Final

from bucketsum.algorithms import ALGORITHMS, EXTRA_ALGORITHMS
from bucketsum_cli.snapshots.queries.schema import Dialect, filled, object_columns

_REPEATED: Final = re.compile(r"\{([^{}]*@[^{}]*?)(,| OR| UNION ALL|) \.\.\.\}")

_DEFINITION: Final = re.compile(
    r"^(?:CREATE \w+|INSERT INTO) (\w+)(?: AS)?\n(.+?);$", re.MULTILINE | re.DOTALL
)


def query_text(name: str, dialect: Dialect | None = None) -> str:
    """The text of the query *name*, where ``{c.@, ...}`` is ``c.sha1, c.sha256``, and so on.

    ``@`` is each algorithm, ``@extra`` each of EXTRA_ALGORITHMS, ``@column`` each of
    `object_columns`; a comma, OR, UNION ALL or nothing
    separates them.
    """
    text = (files(__package__) / f"{name}.sql").read_text("utf-8")
    return _REPEATED.sub(_repeated, filled(text, dialect or Dialect()))


def definitions(dialect: Dialect) -> dict[str, str]:
    """Tables and views of a snapshot → the query that each is made of."""
    text = "".join(query_text(name, dialect) for name in ("load", "load_listing", "join", "views"))
    return {match[1]: match[2] for match in _DEFINITION.finditer(text)}


def _repeated(part: re.Match[str]) -> str:
    """The *part* of a query for each algorithm."""
    text, separator = part.group(1), part.group(2)
    marks = {"@extra": EXTRA_ALGORITHMS, "@column": object_columns(), "@": [*ALGORITHMS]}
    mark = next(mark for mark in marks if mark in text)
    return f"{separator} ".join(text.replace(mark, name) for name in marks[mark])
