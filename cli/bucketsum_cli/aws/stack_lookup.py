"""A deployed stack, found by its name and by the outputs of template.yaml."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from bucketsum_cli.aws.connection import Connection, local_connection
from bucketsum_cli.aws.stack import Stack
from bucketsum_cli.aws.stack_description import description_of, outputs_of, parameters_of
from bucketsum_cli.emulator.emulator_state import LocalProject
from bucketsum_cli.terminal.errors import CannotDoError

_OUTPUTS: Final[Mapping[str, str]] = {
    "bucket": "BucketName",
    "table": "DigestsTableName",
    "arrivals_queue_url": "ArrivalsQueueUrl",
    "dead_letter_queue_url": "DeadLetterQueueUrl",
    "function": "HasherFunctionName",
    "log_group": "HasherLogGroupName",
}


class NoStackError(CannotDoError):
    """CloudFormation has no stack of that name."""


def find_local_stack(project: LocalProject | None = None) -> Stack:
    """Find the stack on the local emulator of *project*, by default of `local_project`.

    Raises:
        CannotDoError: It is not running, or nothing is deployed on it.
    """
    return stack_at(*local_connection(project))


def stack_at(connection: Connection, name: str) -> Stack:
    """Find the stack *name*.

    Raises:
        NoStackError: There is no such stack.
        CannotDoError: It is not bucketsum's.
    """
    description = description_of(connection, name)
    if description is None:
        raise NoStackError(_missing(connection, name))
    if description["StackStatus"] == "DELETE_IN_PROGRESS":
        raise CannotDoError(f"the stack {name} is being deleted")
    outputs = outputs_of(description)
    absent = [output for output in _OUTPUTS.values() if output not in outputs]
    if absent:
        raise CannotDoError(
            f"the stack {name} ({description['StackStatus']}) has no output {', '.join(absent)}: "
            "it was not created by bucketsum's template.yaml, or its deployment is not complete; "
            "name another with --stack, or deploy with `sam deploy`"
        )
    fields = {field: outputs[output] for field, output in _OUTPUTS.items()}
    return Stack(
        name=name,
        connection=connection,
        outputs=outputs,
        parameters=parameters_of(description),
        **fields,
    )


def _missing(connection: Connection, name: str) -> str:
    if connection.endpoint:
        return (
            f"the local emulator at {connection.endpoint} has no stack {name}; deploy it with "
            "`bucketsum local up`"
        )
    profile = connection.session.profile or "default"
    return (
        f"there is no stack {name} in {connection.region} (profile {profile}); "
        "name yours with --stack, --region and --profile, use the local emulator with --local, or "
        "deploy one with `sam build && sam deploy` (README)"
    )
