"""The permissions that docs/operations.md lists for each command, and those that it needs."""

from __future__ import annotations

import re
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from typing import TYPE_CHECKING, Any, Final

from botocore.client import BaseClient
from tests.support.documents import ROOT, Document
from tests.support.recorded_calls import action_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import pytest

_ALWAYS: Final = frozenset(
    {"cloudformation:DescribeStacks", "cloudformation:GetTemplate", "sts:GetCallerIdentity"}
)
"""The table's heading names the first two; the third needs no permission."""

_ACTION: Final = re.compile(r"`(\w+:[A-Z]\w+)`")
_NAME: Final = re.compile(r"`([a-z][a-z -]*)`")

_FAKE_ACTS: Final = ContextVar("_FAKE_ACTS", default=False)
"""Of each thread by itself: others go on as the command's."""


@contextmanager
def as_fake() -> Iterator[None]:
    """Calls in the block are a fake's, not the command's."""
    token = _FAKE_ACTS.set(True)
    try:
        yield
    finally:
        _FAKE_ACTS.reset(token)


def recorded_actions(monkeypatch: pytest.MonkeyPatch) -> set[str]:
    """A set to which every further call to AWS adds its action."""
    actions: set[str] = set()
    call: Any = vars(BaseClient)["_make_api_call"]

    def recorded(client: BaseClient, operation: str, params: dict[str, Any]) -> object:
        if not _FAKE_ACTS.get():
            actions.add(action_of(client.meta.service_model.service_name, operation, params))
        return call(client, operation, params)

    monkeypatch.setattr(BaseClient, "_make_api_call", recorded)
    return actions


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
