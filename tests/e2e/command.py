"""The command against the deployed stack, in this process."""

import json
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Final, TypeVar

import pytest
from click.testing import CliRunner, Result

from bucketsum_cli.aws.stack import Stack
from bucketsum_cli.commands.root import cli

T = TypeVar("T")

_SECONDS: Final = 600
_PAUSE_SECONDS: Final = 0.25
_BUSY_SHARE: Final = 0.2
"""Of the time, at most, so that looking does not slow down what is waited for."""
_PAUSE_SHARE: Final = 0.05
"""Of the time waited so far: what takes long is looked at less often."""


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
    started = time.monotonic()
    while True:
        began = time.monotonic()
        if seen := look():
            return seen
        if (waited := began - started) > seconds:
            pytest.fail(f"waited {seconds} s for {expected}: {seen!r}")
        busy = time.monotonic() - began
        time.sleep(max(_PAUSE_SECONDS, busy / _BUSY_SHARE, waited * _PAUSE_SHARE))


def physical_name(stack: Stack, logical_id: str) -> str:
    """The name that CloudFormation gave a resource of the deployed stack."""
    answer = stack.connection.client("cloudformation").describe_stack_resource(
        StackName=stack.name, LogicalResourceId=logical_id
    )
    name: str = answer["StackResourceDetail"]["PhysicalResourceId"]
    return name


@contextmanager
def throttled(stack: Stack, function: str) -> Iterator[None]:
    """Lambda refuses every invocation of *function* during the block."""
    lambdas = stack.client("lambda")
    lambdas.put_function_concurrency(FunctionName=function, ReservedConcurrentExecutions=0)
    try:
        yield
    finally:
        lambdas.delete_function_concurrency(FunctionName=function)
