"""Executions of the stack's state machines: names and states."""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

from botocore.exceptions import ClientError

from bucketsum.failure_causes import plain_cause

if TYPE_CHECKING:
    from mypy_boto3_stepfunctions import SFNClient

_RUNNING: Final = "RUNNING"
_UNKNOWN: Final = "ExecutionDoesNotExist"


@dataclass(frozen=True, slots=True)
class Execution:
    """The state of an execution.

    Attributes:
        status: The status of Step Functions.
        cause: Error and cause of a failure; empty if there is none.
    """

    status: str = _RUNNING
    cause: str = ""

    @property
    def is_over(self) -> bool:
        """Whether it has ended, with success or not."""
        return self.status != _RUNNING

    @property
    def has_failed(self) -> bool:
        """Whether it has ended, but not with success."""
        return self.is_over and self.status != "SUCCEEDED"


def execution_at(states: SFNClient, arn: str) -> Execution | None:
    """The execution; None if Step Functions does not know it (yet).

    Raises:
        ClientError: AWS refused.
    """
    try:
        answer = states.describe_execution(executionArn=arn)
    except ClientError as error:
        if error.response["Error"]["Code"] != _UNKNOWN:
            raise
        return None
    return Execution(answer["status"], plain_cause(answer.get("error"), answer.get("cause")))


def new_execution_name() -> str:
    """A unique name that sorts by time."""
    return f"{datetime.now(UTC):%Y%m%dT%H%M%S}-{secrets.token_hex(3)}"
