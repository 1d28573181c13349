"""Update of a deployed stack's parameters, with its template as it is."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, Final

from botocore.exceptions import ClientError

from bucketsum_cli.errors import CannotDoError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from bucketsum_cli.stack import Stack

_POLL_SECONDS: Final = 2.0
_DONE: Final = ("UPDATE_COMPLETE", "UPDATE_COMPLETE_CLEANUP_IN_PROGRESS")
_TRANSFORMED: Final = "CAPABILITY_AUTO_EXPAND"
"""CloudFormation runs SAM's transform again, also on the template that it has."""


def updated_stack(
    stack: Stack, values: Mapping[str, str], pause: Callable[[float], None] = time.sleep
) -> Iterator[str]:
    """Give parameters new *values*, keep the rest; yield the status until it is done.

    Raises:
        CannotDoError: CloudFormation could not do it and restored the old state; the text says
            why.
        ClientError: AWS refused.
    """
    cloudformation = stack.client("cloudformation")
    description = cloudformation.describe_stacks(StackName=stack.name)["Stacks"][0]
    parameters: Any = [
        {"ParameterKey": name, "ParameterValue": values[name]}
        if name in values
        else {"ParameterKey": name, "UsePreviousValue": True}
        for name in sorted({*stack.parameters, *values})
    ]
    capabilities: Any = sorted({*description.get("Capabilities", ()), _TRANSFORMED})
    try:
        cloudformation.update_stack(
            StackName=stack.name,
            UsePreviousTemplate=True,
            Parameters=parameters,
            Capabilities=capabilities,
        )
    except ClientError as error:
        if "No updates are to be performed" in error.response["Error"].get("Message", ""):
            return
        raise
    while True:
        description = cloudformation.describe_stacks(StackName=stack.name)["Stacks"][0]
        status = description["StackStatus"]
        if status in _DONE:
            return
        if status.endswith(("_FAILED", "_ROLLBACK_COMPLETE")):
            reason = description.get("StackStatusReason") or "see its events"
            raise CannotDoError(
                f"CloudFormation could not update the stack {stack.name} ({status}): {reason}"
            )
        yield status
        pause(_POLL_SECONDS)
