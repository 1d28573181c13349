"""The permissions that docs/reference/permissions.md lists for each command, and its needs."""

from __future__ import annotations

from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, Final

from botocore.client import BaseClient
from tests.support.recorded_calls import action_of
from tools.reference.permissions import ACTIONS, EVERY_COMMAND

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import pytest

_ALWAYS: Final = frozenset({*EVERY_COMMAND.split(), "sts:GetCallerIdentity"})
"""The last needs no permission."""

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
    """The actions of the last row for a call of the command, which is the most specific one."""
    names = [
        name
        for name in ACTIONS
        if name.split()[0] == arguments[0] and set(name.split()) <= {*arguments}
    ]
    return _ALWAYS.union(ACTIONS[names[-1]].split() if names else ())
