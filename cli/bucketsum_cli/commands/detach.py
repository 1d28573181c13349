"""`bucketsum detach`: no longer hash the new objects of an attached bucket."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from bucketsum_cli.arguments.buckets import bucket_argument
from bucketsum_cli.arguments.options import json_option, yes_option
from bucketsum_cli.arguments.target import Target, stack_options
from bucketsum_cli.aws.stack import Stack
from bucketsum_cli.buckets.attachments.access import update_access
from bucketsum_cli.buckets.attachments.change import (
    AttachmentChange,
    check_bucket,
    deploy_option,
    dry_run_option,
    require_consent,
    show_change,
)
from bucketsum_cli.buckets.attachments.notifications import (
    change_notifications,
    configuration_of,
    difference,
    sends_to_eventbridge,
    without_eventbridge,
)
from bucketsum_cli.buckets.attachments.queue_notification import without_queue
from bucketsum_cli.buckets.bucket_contents import exists
from bucketsum_cli.buckets.served_buckets import AttachedBucket, Via, attached_to
from bucketsum_cli.terminal.errors import ANSWER_IS_NO, CannotDoError
from bucketsum_cli.terminal.hints import command_line
from bucketsum_cli.terminal.output import note

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client


@click.command("detach")
@bucket_argument(with_prefix=False)
@click.option(
    "--eventbridge-off",
    is_flag=True,
    help="Also turn off the bucket's EventBridge events; this affects all rules that use them.",
)
@deploy_option
@dry_run_option
@yes_option
@json_option(AttachmentChange)
@stack_options
def detach(
    target: Target,
    bucket: str,
    eventbridge_off: bool,
    deploy: bool,
    dry_run: bool,
    yes: bool,
    as_json: bool,
) -> None:
    """Stop hashing new objects in BUCKET.

    Removes the notifications to the stack's queue. If the bucket has other notifications, keeps
    them and asks for confirmation first. Objects and their rows stay.

    --deploy also takes away the permission to read the bucket: if objects still have messages in
    the queue, they are then recorded as unreadable. If the bucket was attached with --via
    eventbridge, its events still reach the queue, unless you give --eventbridge-off, or --deploy,
    which removes the bucket from the stack's rule too.

    Exits with 1 if the bucket is not attached, or if you decline.

    Example: bucketsum detach my-photos --deploy
    """
    stack = target.find()
    s3 = stack.client("s3")
    attached = attached_to(stack)
    before = _configuration(stack, s3, bucket)

    def change(configuration: Mapping[str, Any]) -> dict[str, Any]:
        rest = without_queue(configuration, stack.arrivals_queue_arn)
        return without_eventbridge(rest) if eventbridge_off else rest

    def without(buckets: Mapping[str, AttachedBucket]) -> dict[str, AttachedBucket]:
        return {name: entry for name, entry in buckets.items() if name != bucket}

    plan = difference(before, change(before))
    if not (plan.removed or bucket in attached):
        note(
            f"{bucket} is not attached to the stack {stack.name}; `{command_line('buckets')}` "
            "lists those that are"
        )
        raise SystemExit(ANSWER_IS_NO)
    command = command_line("detach", bucket, "--deploy") if bucket in attached else None
    result = AttachmentChange(bucket, stack.name, plan, command)
    by_rule = bucket in attached and attached[bucket].via is Via.EVENTBRIDGE
    through_rule = by_rule and sends_to_eventbridge(change(before))
    if not dry_run:
        _require_end(stack, bucket, deploy=deploy, through_rule=through_rule)
        require_consent(bucket, plan, yes=yes)
        ends = deploy and bucket in attached
        result = replace(
            result,
            changed=bool(plan.removed) and change_notifications(s3, bucket, change, validate=False),
            stack_updated=ends and update_access(stack, without),
        )
    if through_rule:
        note(
            f"{bucket} still sends its events to EventBridge, where other rules may need them; "
            "--eventbridge-off stops that"
        )
    show_change(result, as_json=as_json)


def _configuration(stack: Stack, s3: S3Client, bucket: str) -> dict[str, Any]:
    if not exists(s3, bucket):
        return {}  # deleted: there may still be a permission for it
    check_bucket(stack, bucket)
    return configuration_of(s3, bucket)


def _require_end(stack: Stack, bucket: str, *, deploy: bool, through_rule: bool) -> None:
    """Refuse if new objects of the bucket would still be hashed."""
    if through_rule and not deploy:
        raise CannotDoError(
            f"the stack {stack.name} hashes {bucket} through EventBridge: add --deploy, which "
            "removes the bucket from the stack's rule, or --eventbridge-off, which stops the "
            "bucket's events for all rules"
        )
