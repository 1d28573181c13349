"""The permissions that docs/operations.md lists for each command."""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, Final

from tests.support.documents import ROOT, Document

if TYPE_CHECKING:
    from collections.abc import Sequence

_ALWAYS: Final = frozenset({"cloudformation:DescribeStacks", "sts:GetCallerIdentity"})
"""The table's heading names the first; the second needs no permission."""

_ACTION: Final = re.compile(r"`(\w+:[A-Z]\w+)`")
_NAME: Final = re.compile(r"`([a-z][a-z -]*)`")


def documented_actions(arguments: Sequence[str]) -> frozenset[str]:
    """The actions of the row for a call of the command; the row may refer to other rows."""
    rows = _rows()
    names = [
        name
        for name in rows
        if name.split()[0] == arguments[0] and set(name.split()) <= {*arguments}
    ]
    return _ALWAYS | _actions_of(max(names, key=len, default=""))


def _actions_of(name: str) -> frozenset[str]:
    cell = _rows().get(name, "")
    referred = [other for other in _NAME.findall(cell) if other in _rows() and other != name]
    return frozenset(_ACTION.findall(cell)).union(*map(_actions_of, referred))


@cache
def _rows() -> dict[str, str]:
    """Command → the cell with its actions."""
    table = Document.read(ROOT / "docs" / "operations.md").table("command")
    return {name: cell for names, cell in table for name in _NAME.findall(names)}
