"""`bucketsum attach`: let the stack hash the objects of a bucket that exists."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from typing import Any

import click

from bucketsum_cli.arguments.buckets import bucket_argument
from bucketsum_cli.arguments.options import json_option, prefix_option, yes_option
from bucketsum_cli.arguments.target import Target, stack_options
from bucketsum_cli.aws.stack import Stack
from bucketsum_cli.buckets.attachments.access import keep_access, update_access
from bucketsum_cli.buckets.attachments.change import (
    AttachmentChange,
    check_bucket,
    deploy_option,
    dry_run_option,
    require_consent,
    show_change,
)
from bucketsum_cli.buckets.attachments.checks import needs_rewriting
from bucketsum_cli.buckets.attachments.notifications import (
    KeyFilter,
    change_notifications,
    configuration_of,
    difference,
    with_eventbridge,
)
from bucketsum_cli.buckets.attachments.queue_notification import (
    CREATED,
    EVENTS,
    block_of,
    with_queue,
    without_queue,
)
from bucketsum_cli.buckets.attachments.risks import default_key, warnings_of
from bucketsum_cli.buckets.served_buckets import (
    EXISTING_PARAMETER,
    REPORT_PARAMETER,
    AttachedBucket,
    Via,
    attached_to,
)
from bucketsum_cli.terminal.documents import iso_text
from bucketsum_cli.terminal.errors import CannotDoError
from bucketsum_cli.terminal.hints import command_line
from bucketsum_cli.terminal.live_progress import spinner
from bucketsum_cli.terminal.output import note


@click.command("attach")
@bucket_argument(with_prefix=False)
@prefix_option("Hash only keys that begin with TEXT.")
@click.option("--suffix", default="", metavar="TEXT", help="Hash only keys that end with TEXT.")
@click.option(
    "--via",
    type=click.Choice([via.value for via in Via]),
    default=Via.S3.value,
    show_default=True,
    help="How the events reach the queue.",
)
@click.option(
    "--created-only",
    is_flag=True,
    help="Do not record deletions, or objects restored from Glacier, which saves the cost of "
    "these events.",
)
@deploy_option
@dry_run_option
@yes_option
@json_option(AttachmentChange)
@stack_options
def attach(
    target: Target,
    bucket: str,
    prefix: str,
    suffix: str,
    via: str,
    created_only: bool,
    deploy: bool,
    dry_run: bool,
    yes: bool,
    as_json: bool,
) -> None:
    """Hash new objects in BUCKET from now on, and record deletions.

    Adds a notification to the bucket. If the bucket has other notifications, keeps them and asks
    for confirmation first. S3 applies the change after about five minutes. To hash the existing
    objects, run `bucketsum backfill BUCKET` ten minutes later.

    If another notification already reports some of the same keys, S3 refuses the new one. Then use
    --via eventbridge, which covers all keys and cannot be used with --prefix or --suffix.

    The permission to read the bucket is in a stack of its own, whose name ends in -attached;
    --deploy creates or updates this stack. Without --deploy, the command fails if the stack must be
    created or updated. `attach` can be repeated with the same options. To hash further keys, repeat
    it with a --prefix or --suffix that matches none of the keys already covered.

    Exits with 1 if you decline.

    Example: bucketsum attach my-photos --prefix photos/ --deploy
    """
    keys, way = KeyFilter(prefix, suffix), Via(via)
    if way is not Via.S3 and keys != KeyFilter():
        raise click.UsageError(f"--prefix and --suffix cannot be used with --via {via}")
    stack = target.find()
    _require_attachable(stack, bucket)
    kms_key, warnings = default_key(stack, bucket)
    wanted = AttachedBucket(
        name=bucket,
        via=way,
        created_only=created_only,
        kms_key=kms_key,
        attached_at=iso_text(datetime.now(UTC).replace(microsecond=0)),  # as S3 lists objects
    )
    change = partial(_attached, queue_arn=stack.arrivals_queue_arn, wanted=wanted, keys=keys)
    after = change(before := configuration_of(stack.client("s3"), bucket))
    plan, block = difference(before, after), block_of(after, stack.arrivals_queue_arn, keys)
    admit = partial(_with, wanted=wanted, existing=stack.parameters.get(EXISTING_PARAMETER, ""))
    is_short = _is_short(stack, bucket, admit)
    warnings += warnings_of(stack, wanted, keys, after)
    command = command_line("attach", bucket, *_given(wanted, keys), "--deploy")
    result = AttachmentChange(
        bucket, stack.name, plan, command if is_short else None, via=way, warnings=warnings
    )
    for warning in warnings:
        note(f"warning: {warning}")
    if not dry_run:
        if is_short and not deploy:
            raise CannotDoError(
                f"the functions of the stack {stack.name} may not read {bucket} in this way yet: "
                f"run `{command}`"
            )
        require_consent(bucket, plan, yes=yes)
        result = replace(
            result,
            stack_updated=is_short and update_access(stack, admit),
            changed=_write(stack, bucket, change),
        )
        keep_access(stack, admit)
    show_change(result, as_json=as_json)
    _hint(result, keys, ["eventbridge = true"] if way is Via.EVENTBRIDGE else [*block])


def _require_attachable(stack: Stack, bucket: str) -> None:
    check_bucket(stack, bucket)
    if bucket == stack.parameters.get(REPORT_PARAMETER):
        raise CannotDoError(
            f"{bucket} gets the reports of {stack.name}, and each would be an object of the next; "
            f"first deploy it with another {REPORT_PARAMETER}"
        )


def _is_short(
    stack: Stack,
    bucket: str,
    admit: Callable[[Mapping[str, AttachedBucket]], dict[str, AttachedBucket]],
) -> bool:
    """Whether the permissions do not list *bucket* as wanted, or are not in force."""
    attached = attached_to(stack)
    if admit(attached) != attached:
        return True
    return bucket in attached and needs_rewriting(stack, attached[bucket])


def _hint(change: AttachmentChange, keys: KeyFilter, block: Sequence[str]) -> None:
    if block:
        note(
            f"if Terraform manages {change.bucket}, this must be in its aws_s3_bucket_notification,"
            " or the next apply removes the notification:"
        )
    for line in block:
        note(line)
    if change.changed and not keys.suffix:  # which a backfill does not have
        given = _given(AttachedBucket(change.bucket), keys)
        command = command_line("backfill", change.bucket, *given)
        note(f"to hash the existing objects, run in ten minutes: `{command}`")


def _given(bucket: AttachedBucket, keys: KeyFilter) -> Iterator[str]:
    """Yield the options of the attachment that are not the default."""
    via = "" if bucket.via is Via.S3 else bucket.via.value
    for name, value in (("--prefix", keys.prefix), ("--suffix", keys.suffix), ("--via", via)):
        if value:
            yield from (name, value)
    if bucket.created_only:
        yield "--created-only"


def _attached(
    configuration: Mapping[str, Any], *, queue_arn: str, wanted: AttachedBucket, keys: KeyFilter
) -> dict[str, Any]:
    if wanted.via is Via.EVENTBRIDGE:
        return with_eventbridge(without_queue(configuration, queue_arn))
    if wanted.via is Via.SNS:
        return without_queue(configuration, queue_arn)
    events = (CREATED,) if wanted.created_only else EVENTS
    return with_queue(configuration, queue_arn, keys, events)


def _with(
    attached: Mapping[str, AttachedBucket], *, wanted: AttachedBucket, existing: str
) -> dict[str, AttachedBucket]:
    """Add *wanted* to *attached*, unless the template serves it already, as *existing*."""
    if wanted == AttachedBucket(existing):
        return {name: bucket for name, bucket in attached.items() if name != existing}
    if before := attached.get(wanted.name):
        wanted = replace(wanted, attached_at=before.attached_at)
    return {**attached, wanted.name: wanted}


def _write(
    stack: Stack,
    bucket: str,
    change: Callable[[Mapping[str, Any]], dict[str, Any]],
) -> bool:
    try:
        with spinner("writing the notifications ..."):
            return change_notifications(stack.client("s3"), bucket, change, validate=True)
    except CannotDoError as error:
        if bucket not in attached_to(stack):
            raise
        raise CannotDoError(
            f"{error}; the functions may read {bucket} already: "
            f"`{command_line('detach', bucket, '--deploy')}` takes that back"
        ) from error
