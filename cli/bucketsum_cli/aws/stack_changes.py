"""Changes of CloudFormation's stacks, watched until they end."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Final

from bucketsum_cli.aws.connection import Connection
from bucketsum_cli.aws.stack_description import description_of
from bucketsum_cli.terminal.errors import CannotDoError

_POLL_SECONDS: Final = 2.0
_GONE: Final = ("DELETE_COMPLETE",)


def deleted_stack(connection: Connection, stack_id: str) -> Iterator[str]:
    """Delete the stack; yield its status until it is gone.

    Raises:
        CannotDoError: CloudFormation could not delete some resources; the text says why.
    """
    connection.client("cloudformation").delete_stack(StackName=stack_id)
    failure = "CloudFormation could not delete the stack"
    return changing_stack(connection, stack_id, _GONE, failure)


def changing_stack(
    connection: Connection, stack_id: str, done: tuple[str, ...], failure: str
) -> Iterator[str]:
    """Yield the status of a stack until it is one of *done*, that one too.

    Raises:
        CannotDoError: It ended in another status. The message is *failure* and the reasons of the
            resources that failed.
    """
    while True:
        description = description_of(connection, stack_id)
        status = description["StackStatus"] if description else _GONE[0]  # an emulator forgets it
        if status.endswith(("_FAILED", "ROLLBACK_COMPLETE", *_GONE)) and status not in done:
            break
        yield status
        if status in done:
            return
        time.sleep(_POLL_SECONDS)
    events = connection.client("cloudformation").describe_stack_events(StackName=stack_id)
    reasons = [
        f"{event['LogicalResourceId']}: {event.get('ResourceStatusReason', 'no reason')}"
        for event in reversed(events["StackEvents"])
        if event["ResourceStatus"].endswith("_FAILED")
    ]
    raise CannotDoError(
        f"{failure} ({status}): {'; '.join(reasons) or 'no reason is given'}. Remove the cause, "
        "and run the command again: it goes on from here"
    )
