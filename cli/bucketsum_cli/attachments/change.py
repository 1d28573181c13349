"""A change of a bucket's attachment: check, warn, ask, update, show."""

from __future__ import annotations

import shlex
import time
from typing import TYPE_CHECKING, Any, Final

import click
from botocore.exceptions import ClientError

from bucketsum_cli.aws.served_buckets import ServedBuckets
from bucketsum_cli.terminal.errors import CannotDoError
from bucketsum_cli.terminal.output import confirm, note, print_json, progress, say

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from bucketsum_cli.attachments.notifications import Difference
    from bucketsum_cli.aws.stack import Stack

_MISSING: Final = ("404", "NoSuchBucket")
_POLL_SECONDS: Final = 2.0
_DONE: Final = ("UPDATE_COMPLETE", "UPDATE_COMPLETE_CLEANUP_IN_PROGRESS")
_TRANSFORMED: Final = "CAPABILITY_AUTO_EXPAND"
"""CloudFormation runs SAM's transform again, also on the template that it has."""

deploy_option = click.option(
    "--deploy", is_flag=True, help="Also update the stack's parameters if necessary."
)
dry_run_option = click.option(
    "--dry-run", is_flag=True, help="Only show the changes; do not make them."
)


def check_bucket(stack: Stack, bucket: str) -> None:
    """Refuse a bucket that cannot be attached.

    Raises:
        CannotDoError: There is no such bucket, it is in another Region, or the stack created it.
        ClientError: AWS refused.
    """
    if bucket == stack.bucket and not ServedBuckets.of(stack.parameters).existing:
        raise CannotDoError(
            f"the stack {stack.name} created {bucket}, and always hashes its objects"
        )
    try:
        answer = stack.client("s3").head_bucket(Bucket=bucket)
    except ClientError as error:
        if error.response["Error"]["Code"] not in _MISSING:
            raise
        raise CannotDoError(f"there is no bucket {bucket} in this account") from error
    own = stack.connection.region
    region = answer["ResponseMetadata"]["HTTPHeaders"].get("x-amz-bucket-region", own)
    if region != own:
        raise CannotDoError(
            f"{bucket} is in {region}, but the stack {stack.name} is in {own}: S3 notifies queues "
            "of its own Region only; deploy a stack there"
        )


def queue_arn_of(stack: Stack) -> str:
    """Return the ARN of the arrivals queue."""
    return stack.outputs["ArrivalsQueueArn"]


def partition_of(stack: Stack) -> str:
    """Return the partition of the stack's ARNs, for example ``aws``."""
    return queue_arn_of(stack).split(":")[1]


def deploy_command(stack: Stack, values: Mapping[str, str]) -> str:
    """Return the shell command that deploys the stack with these values of parameters."""
    overrides = " ".join(f"{name}={shlex.quote(value)}" for name, value in values.items())
    return (
        f"sam build && sam deploy --stack-name {stack.name} "
        f"--region {stack.connection.region} --parameter-overrides {overrides}"
    )


def changed_parameters(stack: Stack, served: ServedBuckets) -> dict[str, str]:
    """Return the parameters of the stack that differ from those of *served*, with new values."""
    return {
        name: value
        for name, value in served.parameters(partition_of(stack)).items()
        if value != stack.parameters.get(name, "")
    }


def require_consent(bucket: str, plan: Difference, *, yes: bool) -> None:
    """Ask before the configuration of a bucket that has notifications of others is written.

    Raises:
        SystemExit: The answer was no.
    """
    if not (plan.added or plan.removed) or not plan.kept:
        return
    if not yes:
        _show_plan(plan, note)
    question = f"Write this configuration of {bucket}, which has notifications of others?"
    confirm(question, "nothing was changed", yes=yes)


def _updated_stack(stack: Stack, values: Mapping[str, str]) -> Iterator[str]:
    """Give parameters new *values*, keep the rest; yield the status until it is done."""
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
        time.sleep(_POLL_SECONDS)


def update_parameters(stack: Stack, values: Mapping[str, str]) -> bool:
    """Deploy the stack with *values*, if there are any; returns whether it was deployed.

    Raises:
        CannotDoError: CloudFormation could not do it and restored the old state; the text says
            why.
        ClientError: AWS refused.
    """
    if not values:
        return False
    with progress(passing=True) as bar:
        task = bar.add_task("updating the stack", total=None)
        for status in _updated_stack(stack, values):
            bar.update(task, description=f"stack: {status}")
    return True


def document_of(
    stack: Stack, bucket: str, plan: Difference, values: Mapping[str, str]
) -> dict[str, Any]:
    """The change as JSON, before it is made; *values* are the parameters that must change."""
    return {
        "bucket": bucket,
        "stack": stack.name,
        "added": list(plan.added),
        "removed": list(plan.removed),
        "kept": list(plan.kept),
        "changed": False,
        "stack_updated": False,
        "command": deploy_command(stack, values) if values else None,
    }


def show_change(document: dict[str, Any], plan: Difference, *, as_json: bool) -> None:
    """Print the change, and the deployment that is still missing."""
    if document["stack_updated"]:
        document["command"] = None
    if as_json:
        print_json(document)
        return
    _show_plan(plan, say)
    if not (plan.added or plan.removed):
        say(f"the notifications of {document['bucket']} need no change")
    if document["command"]:
        note(f"the stack's parameters still need a change: {document['command']}")


def _show_plan(plan: Difference, print_line: Any) -> None:  # noqa: ANN401 - `say` or `note`
    for mark, lines in (("  ", plan.kept), ("- ", plan.removed), ("+ ", plan.added)):
        for line in lines:
            print_line(f"{mark}{line}")
