"""The command against the deployed stack, in this process."""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING, Any, Final, TypeVar

import pytest
from click.testing import CliRunner, Result

from bucketsum_cli.root_command import cli

if TYPE_CHECKING:
    from collections.abc import Callable

T = TypeVar("T")

_SECONDS: Final = 180


def run(*arguments: str, expected: int = 0) -> Result:
    """Run the command; its exit status must be *expected*."""
    result = CliRunner(mix_stderr=False).invoke(cli, list(arguments))
    assert result.exit_code == expected, f"{result.output}\n{result.stderr}\n{result.exception!r}"
    return result


def answer(*arguments: str) -> Any:  # noqa: ANN401 - a JSON document
    """The JSON document of a command that succeeds on the stack of the local emulator."""
    return json.loads(run(*arguments, "--local", "--json").stdout)


def until(look: Callable[[], T | None], expected: str, seconds: float = _SECONDS) -> T:
    """Look until the result is true, and return it."""
    deadline = time.monotonic() + seconds
    while not (seen := look()):
        if time.monotonic() > deadline:
            pytest.fail(f"waited {seconds} s for {expected}: {seen!r}")
        time.sleep(0.1)
    return seen
