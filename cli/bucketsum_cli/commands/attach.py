"""`bucketsum attach`: let the stack hash the objects of a bucket that exists."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import click
from botocore.exceptions import ClientError

from bucketsum_cli.attachments.change import (
    changed_parameters,
    check_bucket,
    deploy_command,
    deploy_option,
    document_of,
    dry_run_option,
    queue_arn_of,
    require_consent,
    show_change,
    update_parameters,
)
from bucketsum_cli.attachments.notifications import (
    KeyFilter,
    change_notifications,
    configuration_of,
    difference,
    with_eventbridge,
)
from bucketsum_cli.attachments.queue_notification import missing_events, with_queue, without_queue
from bucketsum_cli.aws.served_buckets import ServedBuckets, Via
from bucketsum_cli.options import Target, json_option, prefix_option, stack_options, yes_option
from bucketsum_cli.terminal.errors import CannotDoError
from bucketsum_cli.terminal.output import note, progress

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mypy_boto3_s3 import S3Client

    from bucketsum_cli.aws.stack import Stack


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
@deploy_option
@dry_run_option
@yes_option
@json_option
@stack_options
def attach(
    target: Target,
    bucket: str,
    prefix: str,
    suffix: str,
    via: str,
    deploy: bool,
    dry_run: bool,
    yes: bool,
    as_json: bool,
) -> None:
    """Hash new objects in BUCKET from now on, and record deletions.

    Adds a notification to the bucket, which S3 applies after about five minutes; if the bucket has
    other notifications, keeps them and asks for confirmation first. For existing objects, run
    `bucketsum backfill BUCKET` ten minutes later. S3 refuses the notification if another one
    already reports new objects for some of the same keys; then use --via eventbridge, which covers
    all keys and cannot be used with --prefix or --suffix.

    The bucket must be listed in the stack's parameters; --deploy adds it. Without --deploy, the
    command fails if the bucket is not listed, and its message shows how to add it. `attach` can be
    repeated with the same options. To hash further keys, repeat it with a --prefix or --suffix that
    matches none of the keys already covered.

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
    left_out = _left_out_warning(after, queue_arn_of(stack)) if way is Via.S3 else None
    warnings = [text for text in (_log_loop_warning(s3, bucket, way, keys), left_out) if text]
    document = document_of(stack, bucket, plan, values) | {"via": way.value, "warnings": warnings}
    for warning in warnings:
        note(f"warning: {warning}")
    if not dry_run:
        _require_admission(stack, bucket, values, deploy=deploy, known=served.has_parameters)
        require_consent(bucket, plan, yes=yes)
        updated = document["stack_updated"] = update_parameters(stack, values)
        with progress(passing=True) as bar:
            bar.add_task("writing the notifications", total=None)
            document["changed"] = change_notifications(
                s3, bucket, change, validate=True, settling=updated
            )
    show_change(document, plan, as_json=as_json)


def _attached(
    configuration: Mapping[str, Any], *, queue_arn: str, via: Via, keys: KeyFilter
) -> dict[str, Any]:
    if via is Via.EVENTBRIDGE:
        return with_eventbridge(without_queue(configuration, queue_arn))
    return with_queue(configuration, queue_arn, keys)


def _require_admission(
    stack: Stack, bucket: str, values: Mapping[str, str], *, deploy: bool, known: bool
) -> None:
    """Refuse if the stack does not admit the bucket and must not, or cannot, be updated here."""
    if not values or (deploy and known):
        return
    command = deploy_command(stack, values)
    raise CannotDoError(
        f"the stack {stack.name} does not allow {bucket} yet: run `{command}`, then this command "
        "again" + (", or add --deploy" if known else "; its template is older than this command")
    )


def _log_loop_warning(s3: S3Client, bucket: str, via: Via, keys: KeyFilter) -> str | None:
    """Warn if the bucket receives its own access logs, and they would be hashed.

    Each GET of the hasher would then create a log object, which is read in turn.
    """
    try:
        logging: Any = s3.get_bucket_logging(Bucket=bucket).get("LoggingEnabled")
    except ClientError as error:
        code = error.response["Error"]["Code"]
        return f"the access logs of {bucket} were not checked for a loop: {code}"
    if not logging or logging["TargetBucket"] != bucket:
        return None
    logs = logging.get("TargetPrefix", "")
    if via is Via.S3 and not keys.overlaps(KeyFilter(logs)):
        return None
    return (
        f"{bucket} receives its own access logs ({KeyFilter(logs)}), which would be hashed: each "
        "GET of the hasher is logged, and each log is read again, without end. Send the logs to "
        "another bucket, or limit the notification with --prefix to the keys of your objects"
    )


def _left_out_warning(configuration: Mapping[str, Any], queue_arn: str) -> str | None:
    """Warn if *configuration*, to be written, notifies the queue of created objects only."""
    missing = missing_events(configuration, queue_arn)
    if not missing:
        return None
    return (
        f"{', '.join(missing)} are left out, because other notifications have them for overlapping "
        "keys: these deletions and restores are not recorded. --via eventbridge takes all events"
    )
