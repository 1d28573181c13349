"""A change of a bucket's attachment: check, warn, ask, update, show."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from http import HTTPStatus
from typing import Annotated, Any, Final

import click

from bucketsum_cli.aws.stack import Stack
from bucketsum_cli.buckets.attachments.notifications import NotificationDifference
from bucketsum_cli.buckets.bucket_contents import head
from bucketsum_cli.buckets.served_buckets import Via, creates
from bucketsum_cli.terminal.confirmation import confirm
from bucketsum_cli.terminal.documents import INLINE
from bucketsum_cli.terminal.errors import CannotDoError
from bucketsum_cli.terminal.output import note, print_json, say

_BUCKET_NAME: Final = re.compile(r"[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]")
_OTHER_KINDS: Final = ("--x-s3", "--xa-s3", "-s3alias", "--ol-s3")
"""Ends of the names of directory buckets and access points, which send no events."""

deploy_option = click.option(
    "--deploy",
    is_flag=True,
    help="If necessary, also update the permissions (the stack NAME-attached).",
)
dry_run_option = click.option(
    "--dry-run", is_flag=True, help="Only show the changes; do not make them."
)


@dataclass(frozen=True, slots=True)
class AttachmentChange:
    """The result of `attach` or `detach`."""

    bucket: str
    stack: str
    plan: NotificationDifference = field(metadata=INLINE)
    command: Annotated[str | None, "Shell command that changes them; null if they need no change."]
    changed: Annotated[bool, "Whether the bucket's notifications were written."] = False
    stack_updated: Annotated[bool, "Whether the permissions were changed."] = False
    via: Via | None = None
    warnings: Annotated[Sequence[str], "Possible reasons not to attach the bucket."] = ()


def check_bucket(stack: Stack, bucket: str) -> None:
    """Refuse a bucket that cannot be attached.

    Raises:
        CannotDoError: There is no such bucket, it is in another account or Region, or the stack
            created it.
    """
    if not _BUCKET_NAME.fullmatch(bucket):
        raise CannotDoError(f"{bucket} is not the name of a bucket")
    if bucket.endswith(_OTHER_KINDS):
        raise CannotDoError(
            f"{bucket} is a directory bucket or an access point, which sends no events to a queue"
        )
    if creates(stack, bucket):
        raise CannotDoError(
            f"{bucket} is the stack's own bucket: it is always hashed, and cannot be attached or "
            "detached"
        )
    account, own = stack.arrivals_queue_arn.split(":")[4], stack.connection.region
    status, region = head(stack.client("s3"), bucket, ExpectedBucketOwner=account)
    if status == HTTPStatus.NOT_FOUND:
        raise CannotDoError(f"there is no bucket {bucket} in this account")
    if status == HTTPStatus.FORBIDDEN:
        raise CannotDoError(
            f"{bucket} is not in the account {account} of the stack {stack.name}, or you may not "
            "list it (s3:ListBucket)"
        )
    if region not in (own, None):
        raise CannotDoError(
            f"{bucket} is in {region}, but the stack {stack.name} is in {own}: S3 notifies queues "
            "of its own Region only; deploy a stack there"
        )


def require_consent(bucket: str, plan: NotificationDifference, *, yes: bool) -> None:
    """Ask before changing the notifications of a bucket that also has those of others.

    Raises:
        SystemExit: The answer was no.
    """
    if not (plan.added or plan.removed) or not plan.kept:
        return
    if not yes:
        _show_plan(plan, note)
    question = f"Write this configuration of {bucket}, which has notifications of others?"
    confirm(question, "nothing was changed", yes=yes)


def show_change(change: AttachmentChange, *, as_json: bool) -> None:
    """Print the change, and the deployment that is still missing."""
    change = replace(change, command=None if change.stack_updated else change.command)
    if as_json:
        print_json(change)
        return
    plan = change.plan
    _show_plan(plan, say)
    if not (plan.added or plan.removed):
        say(f"the notifications of {change.bucket} need no change")
    if change.command:
        note(f"the permissions still need a change: `{change.command}`")


def _show_plan(plan: NotificationDifference, print_line: Any) -> None:  # noqa: ANN401 - `say` or `note`
    for mark, lines in (("  ", plan.kept), ("- ", plan.removed), ("+ ", plan.added)):
        for line in lines:
            print_line(f"{mark}{line}")
