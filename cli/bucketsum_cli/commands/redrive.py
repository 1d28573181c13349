"""`bucketsum redrive`: another try for what could not be handled."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

import click

from bucketsum.digests_table import NULL_VERSION, Status
from bucketsum_cli.commands.failures import document_of, named
from bucketsum_cli.dead_letter_queue import received, send_back
from bucketsum_cli.errors import ANSWER_IS_NO
from bucketsum_cli.options import json_option, stack_options, yes_option
from bucketsum_cli.output import confirmed, note, print_json, say

if TYPE_CHECKING:
    from bucketsum.digests_table import Row
    from bucketsum_cli.dead_letter_queue import SentBack
    from bucketsum_cli.options import Target
    from bucketsum_cli.stack import Stack

_HOLD_SECONDS: Final = 600
"""Longest that messages are hidden from others: a person's answer may take its time."""


@click.command("redrive")
@click.option(
    "--key",
    "keys",
    multiple=True,
    metavar="KEY",
    help="Instead, try this key's unreadable versions again; may be given more than once.",
)
@yes_option
@click.option(
    "--limit",
    type=click.IntRange(1, 100_000),
    default=10_000,
    show_default=True,
    help="Most messages to send back.",
)
@json_option
@stack_options
def redrive(
    target: Target,
    keys: tuple[str, ...],
    yes: bool,  # noqa: FBT001 - click passes by name
    limit: int,
    as_json: bool,  # noqa: FBT001 - click passes by name
) -> None:
    """Try again what could not be handled.

    Messages that were set aside go back to the arrivals queue.

    A message is deleted from the dead-letter queue only after it was sent. With --key nothing of
    that queue is touched: the versions of KEY that are recorded as unreadable are queued again, as
    after a restore from Glacier or a corrected permission; this asks for no confirmation.

    Exits with 1 where something was not sent.

    Example: bucketsum redrive --key archive/2019.zip
    """
    stack = target.find()
    if keys:
        _requeue(stack, keys, as_json=as_json)
        return
    with received(stack, limit, _HOLD_SECONDS) as messages:
        question = f"Send {len(messages)} messages back to the arrivals queue of {stack.name}?"
        if messages and not confirmed(question, yes=yes):
            note("nothing was sent")
            raise SystemExit(ANSWER_IS_NO)
        result = send_back(stack, messages)
    _report(result, as_json=as_json)
    if len(messages) == limit:
        note(f"there may be more than these {limit}: run it again")
    if result.refused:
        raise SystemExit(ANSWER_IS_NO)


def _report(result: SentBack, *, as_json: bool) -> None:
    if as_json:
        print_json(
            {
                "sent": [document_of(one) for one in result.sent],
                "refused": [{**document_of(one), "refusal": why} for one, why in result.refused],
                "undeleted": [one.message_id for one in result.undeleted],
            }
        )
    else:
        for one in result.sent:
            say(f"sent back  {named(one)}")
        say(f"{len(result.sent)} sent back" if result.sent else "nothing was sent back")
    for one, why in result.refused:
        note(f"not sent, still set aside: {named(one)}: {why}")
    if result.undeleted:
        note(
            f"{len(result.undeleted)} of them could not be deleted from the dead-letter queue and "
            "will be there again; sending them twice does no harm"
        )


def _requeue(stack: Stack, keys: tuple[str, ...], *, as_json: bool) -> None:
    ledger = stack.ledger()
    sqs = stack.client("sqs")
    queued: list[Row] = []
    readable: list[str] = []
    for key in dict.fromkeys(keys):
        rows = ledger.versions_of(stack.bucket, key)
        unreadable = [row for row in rows if row.status is Status.UNREADABLE]
        if not unreadable:
            readable.append(key)
        for row in unreadable:
            sqs.send_message(
                QueueUrl=stack.arrivals_queue_url, MessageBody=json.dumps(_event_of(row))
            )
            queued.append(row)
            if not as_json:
                say(f"queued  {row.key}  version {row.entry}")
    if as_json:
        print_json(
            {
                "queued": [{"key": row.key, "version": row.entry} for row in queued],
                "not_unreadable": readable,
            }
        )
    for key in readable:
        note(f"nothing of {key} is recorded as unreadable; `bucketsum show` tells what is")
    if readable:
        raise SystemExit(ANSWER_IS_NO)


def _event_of(row: Row) -> dict[str, Any]:
    """The event that *row* came from, in EventBridge's shape, which holds keys as they are."""
    version = {} if row.entry == NULL_VERSION else {"version-id": row.entry}
    etag = {"etag": row.etag} if row.etag else {}
    return {
        "detail-type": "Object Created",
        "source": "bucketsum.redrive",
        "time": row.arrived_at,
        "detail": {
            "bucket": {"name": row.bucket},
            "object": {
                "key": row.key,
                "size": row.size_bytes,
                "sequencer": row.sequencer,
                **version,
                **etag,
            },
        },
    }
