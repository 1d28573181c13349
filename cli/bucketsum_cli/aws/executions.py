"""Executions of the stack's state machines: names and states."""

from __future__ import annotations

import json
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final

from bucketsum.step_functions_errors import plain_cause

if TYPE_CHECKING:
    from mypy_boto3_stepfunctions import SFNClient

_RUNNING: Final = "RUNNING"


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


@dataclass(frozen=True, slots=True)
class StateMachine:
    """A state machine of a stack, whose executions have unique names."""

    client: SFNClient
    arn: str

    def start(self, name: str, document: Mapping[str, Any]) -> str:
        """Start an execution with *document* as its input; returns its ARN."""
        return self.client.start_execution(
            stateMachineArn=self.arn, name=name, input=json.dumps(document)
        )["executionArn"]

    def execution(self, name: str) -> Execution | None:
        """The execution; None if Step Functions does not know it (yet)."""
        try:
            answer = self.client.describe_execution(executionArn=self._execution_arn(name))
        except self.client.exceptions.ExecutionDoesNotExist:
            return None
        return Execution(answer["status"], plain_cause(answer.get("error"), answer.get("cause")))

    def stop(self, name: str, error: str, cause: str) -> None:
        """Stop the execution with this name."""
        arn = self._execution_arn(name)
        self.client.stop_execution(executionArn=arn, error=error, cause=cause)

    def _execution_arn(self, name: str) -> str:
        return f"{self.arn.replace(':stateMachine:', ':execution:')}:{name}"


def new_execution_name() -> str:
    """A unique name that sorts by time."""
    return f"{datetime.now(UTC):%Y%m%dT%H%M%S}-{secrets.token_hex(3)}"
