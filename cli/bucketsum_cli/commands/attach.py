"""`bucketsum attach` and `detach`: let the stack hash the objects of a bucket that exists."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial, wraps
from typing import TYPE_CHECKING, Any

import click

from bucketsum_cli.attachment import (
    changed_parameters,
    check_bucket,
    deploy_command,
    left_out_warning,
    log_loop_warning,
    queue_arn_of,
)
from bucketsum_cli.bucket_contents import exists
from bucketsum_cli.bucket_notifications import (
    Difference,
    KeyFilter,
    Via,
    change_notifications,
    configuration_of,
    difference,
    sends_to_eventbridge,
    with_eventbridge,
    without_eventbridge,
)
from bucketsum_cli.errors import ANSWER_IS_NO, CannotDoError
from bucketsum_cli.options import json_option, prefix_option, stack_options, yes_option
from bucketsum_cli.output import confirmed, note, print_json, progress, say
from bucketsum_cli.queue_notification import with_queue, without_queue
from bucketsum_cli.served_buckets import ServedBuckets
from bucketsum_cli.stack_update import updated_stack

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from bucketsum_cli.options import Target
    from bucketsum_cli.stack import Stack


@dataclass(frozen=True, slots=True)
class WriteOptions:
    """Options of both commands.

    Attributes:
        deploy: Whether to update the stack's parameters.
        dry_run: Whether to change nothing.
        yes: Whether to skip the question.
        as_json: Whether to print JSON.
    """

    deploy: bool
    dry_run: bool
    yes: bool
    as_json: bool


def _write_options(command: Callable[..., None]) -> Callable[..., None]:
    """Give *command* the options of `WriteOptions`, and pass them as ``write``."""

    @click.option("--deploy", is_flag=True, help="Also update the stack's parameters if necessary.")
    @click.option("--dry-run", is_flag=True, help="Only show the changes; do not make them.")
    @yes_option
    @json_option
    @wraps(command)
    def with_options(
        *args: Any,  # noqa: ANN401 - the command's types
        deploy: bool,
        dry_run: bool,
        yes: bool,
        as_json: bool,
        **options: Any,  # noqa: ANN401 - the command's types
    ) -> None:
        command(*args, write=WriteOptions(deploy, dry_run, yes, as_json), **options)

    return with_options


@click.command("attach")
@click.argument("bucket")
@prefix_option("Hash only keys that begin with TEXT.")
@click.option("--suffix", default="", metavar="TEXT", help="Hash only keys that end with TEXT.")
@click.option(
    "--via",
    type=click.Choice([via.value for via in Via]),
    default=Via.S3.value,
    show_default=True,
    help="How the events reach the queue.",
)
@_write_options
@stack_options
def attach(
    target: Target,
    bucket: str,
    prefix: str,
    suffix: str,
    via: str,
    write: WriteOptions,
) -> None:
    """Hash new objects in BUCKET from now on, and record deletions.

    Adds a notification to the bucket, which S3 applies after about five minutes; if the bucket has
    other notifications, keeps them and asks for confirmation first. For existing objects, run
    `bucketsum backfill BUCKET` ten minutes later. If another notification has the same events for
    overlapping keys, S3 refuses this one; then use --via eventbridge. It covers all keys, so
    --prefix and --suffix cannot be used with it.

    The bucket must be listed in the stack's parameters; --deploy adds it. If it is not listed, the
    command fails without --deploy, and its message shows how to add the bucket. Repeating an
    `attach` changes nothing.

    Exits with 1 if you decline.

    Example: bucketsum attach my-photos --prefix photos/ --deploy
    """
    keys, way = KeyFilter(prefix, suffix), Via(via)
    if way is Via.EVENTBRIDGE and keys != KeyFilter():
        raise click.UsageError("--prefix and --suffix cannot be used with --via eventbridge")
    stack = target.find()
    s3 = stack.client("s3")
    check_bucket(stack, bucket)
    change = partial(_attached, queue_arn=queue_arn_of(stack), via=way, keys=keys)
    before = configuration_of(s3, bucket)
    after = change(before)
    plan = difference(before, after)
    served = ServedBuckets.of(stack.parameters)
    values = changed_parameters(stack, served.with_bucket(bucket, way))
    left_out = left_out_warning(after, queue_arn_of(stack)) if way is Via.S3 else None
    warnings = [text for text in (log_loop_warning(s3, bucket, way, keys), left_out) if text]
    document = _document(stack, bucket, plan, values) | {"via": way.value, "warnings": warnings}
    for warning in warnings:
        note(f"warning: {warning}")
    if not write.dry_run:
        _require_admission(stack, bucket, values, deploy=write.deploy, known=served.has_parameters)
        _require_consent(bucket, plan, yes=write.yes)
        updated = document["stack_updated"] = _update(stack, values)
        with progress(passing=True) as bar:
            bar.add_task("writing the notifications", total=None)
            document["changed"] = change_notifications(
                s3, bucket, change, validate=True, settling=updated
            )
    _show(document, plan, as_json=write.as_json)


@click.command("detach")
@click.argument("bucket")
@click.option(
    "--eventbridge-off",
    is_flag=True,
    help="Also turn off the bucket's EventBridge events; this affects all rules that use them.",
)
@_write_options
@stack_options
def detach(
    target: Target,
    bucket: str,
    eventbridge_off: bool,  # noqa: FBT001 - click passes by name
    write: WriteOptions,
) -> None:
    """Stop hashing new objects in BUCKET.

    Removes the notifications to the stack's queue. All other notifications, the objects and their
    rows stay. --deploy also removes the bucket from the stack's parameters; objects whose messages
    are still in the queue then become unreadable. A bucket that was attached with --via eventbridge
    has no such notification: it needs --deploy or --eventbridge-off.

    Exits with 1 if the bucket is not attached, or if you decline.

    Example: bucketsum detach my-photos --deploy
    """
    stack = target.find()
    s3 = stack.client("s3")
    served = ServedBuckets.of(stack.parameters)
    values = changed_parameters(stack, served.without_bucket(bucket))
    if not exists(s3, bucket):
        before: dict[str, Any] = {}  # deleted: the parameters may still name it
    else:
        check_bucket(stack, bucket)
        before = configuration_of(s3, bucket)
    change = partial(_detached, queue_arn=queue_arn_of(stack), eventbridge_off=eventbridge_off)
    plan = difference(before, change(before))
    if not (plan.removed or values):
        note(f"{bucket} is not attached to the stack {stack.name}")
        raise SystemExit(ANSWER_IS_NO)
    document = _document(stack, bucket, plan, values)
    if not write.dry_run:
        _require_consent(bucket, plan, yes=write.yes)
        if plan.removed:
            document["changed"] = change_notifications(s3, bucket, change, validate=False)
        document["stack_updated"] = write.deploy and _update(stack, values)
    if bucket in served.eventbridge and sends_to_eventbridge(change(before)):
        note(
            f"{bucket} still sends its events to EventBridge, where other rules may need them; "
            "--eventbridge-off stops that"
        )
    _show(document, plan, as_json=write.as_json)


def _attached(
    configuration: Mapping[str, Any], *, queue_arn: str, via: Via, keys: KeyFilter
) -> dict[str, Any]:
    if via is Via.EVENTBRIDGE:
        return with_eventbridge(without_queue(configuration, queue_arn))
    return with_queue(configuration, queue_arn, keys)


def _detached(
    configuration: Mapping[str, Any], *, queue_arn: str, eventbridge_off: bool
) -> dict[str, Any]:
    rest = without_queue(configuration, queue_arn)
    return without_eventbridge(rest) if eventbridge_off else rest


def _require_admission(
    stack: Stack, bucket: str, values: Mapping[str, str], *, deploy: bool, known: bool
) -> None:
    """Refuse if the stack does not admit the bucket and must not, or cannot, be updated here."""
    if not values or (deploy and known):
        return
    command = deploy_command(stack, values)
    raise CannotDoError(
        f"the stack {stack.name} does not admit {bucket} yet: run `{command}`, then this command "
        "again" + (", or add --deploy" if known else "; its template is older than this command")
    )


def _require_consent(bucket: str, plan: Difference, *, yes: bool) -> None:
    if not (plan.added or plan.removed) or not plan.kept:
        return
    if not yes:
        _show_plan(plan, note)
    question = f"Write this configuration of {bucket}, which has notifications of others?"
    if not confirmed(question, yes=yes):
        note("nothing was changed")
        raise SystemExit(ANSWER_IS_NO)


def _update(stack: Stack, values: Mapping[str, str]) -> bool:
    if not values:
        return False
    with progress(passing=True) as bar:
        task = bar.add_task("updating the stack", total=None)
        for status in updated_stack(stack, values):
            bar.update(task, description=f"stack: {status}")
    return True


def _document(
    stack: Stack, bucket: str, plan: Difference, values: Mapping[str, str]
) -> dict[str, Any]:
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


def _show(document: dict[str, Any], plan: Difference, *, as_json: bool) -> None:
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


def _show_plan(plan: Difference, show: Any) -> None:  # noqa: ANN401 - `say` or `note`
    for mark, lines in (("  ", plan.kept), ("- ", plan.removed), ("+ ", plan.added)):
        for line in lines:
            show(f"{mark}{line}")
