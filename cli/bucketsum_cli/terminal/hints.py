"""Commands in messages, with the options that the running command was given."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from contextvars import ContextVar
from typing import Final

_OF_A_BUCKET: Final = ("put", "ls", "show", "find", "check", "stop")
_given: ContextVar[Mapping[str, str]] = ContextVar("given")


def remember_options(options: Mapping[str, str | None]) -> None:
    """Remember the *options* that name a stack and a bucket; a flag's value is empty."""
    _given.set({name: value for name, value in options.items() if value is not None})


def command_line(*arguments: str, all_buckets: bool = False) -> str:
    """`bucketsum` with *arguments*, and with the stack and the bucket of the running command.

    The help of a command is the same for all; a group takes no options with it. With
    *all_buckets*, the command is not for the bucket of the running one alone.
    """
    given = {} if "--help" in arguments else _given.get({})
    takes_bucket = not all_buckets and (arguments[0] in _OF_A_BUCKET or "--key" in arguments)
    added = [
        part
        for name, value in given.items()
        if name not in arguments and (takes_bucket or name != "--bucket")
        for part in (name, value)
        if part
    ]
    return shlex.join(["bucketsum", *arguments, *added])
