"""`bucketsum buckets`: the buckets of a stack, and whether their objects are hashed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Final

import click

from bucketsum_cli.arguments.options import json_option
from bucketsum_cli.arguments.target import Target, stack_options
from bucketsum_cli.buckets.attachments.checks import Attachment, attachments
from bucketsum_cli.terminal.columns import Cell, Column
from bucketsum_cli.terminal.errors import end_if
from bucketsum_cli.terminal.output import print_json
from bucketsum_cli.terminal.tables import RowTexts, print_items

_TEXTS: Final[RowTexts[Attachment]] = {
    Column("bucket", shrinks=True): lambda entry: entry.bucket,
    Column("via"): lambda entry: entry.via.value,
    Column("keys", shrinks=True): lambda entry: "; ".join(entry.notified_keys),
    Column("state", shrinks=True): lambda entry: (
        Cell("; ".join(entry.problems), "red") if entry.problems else Cell("complete", "green")
    ),
}


@dataclass(frozen=True, slots=True)
class BucketListing:
    """The buckets of a stack."""

    stack: Annotated[str, "Name of the stack."]
    buckets: Annotated[Sequence[Attachment], "Its buckets."]


@click.command("buckets")
@json_option(BucketListing)
@stack_options
def buckets(target: Target, as_json: bool) -> None:
    """Show a stack's buckets and whether their objects are hashed.

    Checks each bucket's notification, the policy of the queue and the permissions of the hashing
    function's role. Bucket policies and policies of AWS Organizations are not checked.

    Exits with 1 if a check finds a problem.

    Example: bucketsum buckets --stack photo-sums
    """
    stack = target.find()
    listed = list(attachments(stack))
    if as_json:
        print_json(BucketListing(stack.name, listed))
    else:
        print_items(_TEXTS, listed)
    end_if(any(entry.problems for entry in listed))
