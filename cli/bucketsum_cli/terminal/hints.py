"""Commands in messages, with the options that the running command was given."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping
from contextvars import ContextVar
from typing import Final

_COMMAND: Final = re.compile(r"`bucketsum (?!local\b)(\w+)([^`]*)`")
_OF_A_BUCKET: Final = ("put", "ls", "show", "find", "check", "stop")
_given: ContextVar[Mapping[str, str]] = ContextVar("given")


def remember_options(options: Mapping[str, str | None]) -> None:
    """Remember the *options* that name a stack and a bucket; a flag's value is empty."""
    _given.set({name: value for name, value in options.items() if value is not None})


def with_options(text: str) -> str:
    """*text*, whose commands get the stack and the bucket of the running command."""
    given = _given.get({})
    return _COMMAND.sub(lambda match: _completed(match, given), text) if given else text


def _completed(match: re.Match[str], given: Mapping[str, str]) -> str:
    command, arguments = match.groups()
    takes_bucket = command in _OF_A_BUCKET or "--key" in arguments
    added = [
        f"{name} {shlex.quote(value)}" if value else name
        for name, value in given.items()
        if name not in arguments and (takes_bucket or name != "--bucket")
    ]
    return f"`{' '.join(['bucketsum', command + arguments, *added])}`"
