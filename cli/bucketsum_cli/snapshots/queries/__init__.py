"""Questions of a snapshot, each in a file of SQL."""

from __future__ import annotations

import re
from importlib.resources import files
from typing import Final

from bucketsum.algorithms import ALGORITHMS, EXTRA_ALGORITHMS

_REPEATED: Final = re.compile(r"\{([^{}]*@[^{}]*?)(,| OR| UNION ALL|) \.\.\.\}")


def query_text(name: str) -> str:
    """The text of the query *name*, where ``{c.@, ...}`` is ``c.sha1, c.sha256``, and so on.

    ``@`` is each algorithm, ``@extra`` each of EXTRA_ALGORITHMS; a comma, OR, UNION ALL or nothing
    separates them.
    """
    text = (files(__package__) / f"{name}.sql").read_text("utf-8")
    return _REPEATED.sub(_repeated, text)


def _repeated(part: re.Match[str]) -> str:
    """The *part* of a query for each algorithm."""
    text, separator = part.group(1), part.group(2)
    mark, names = ("@extra", EXTRA_ALGORITHMS) if "@extra" in text else ("@", [*ALGORITHMS])
    return f"{separator} ".join(text.replace(mark, name) for name in names)
