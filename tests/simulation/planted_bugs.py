"""Planted bugs: patches of the product that the simulation must find."""

# ruff: noqa: SLF001 - bugs are planted in private parts

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass, replace
from typing import Any, Final
from unittest.mock import patch

from botocore.exceptions import BotoCoreError, ClientError
from tests.simulation.functions import module_of
from tests.simulation.planted_lifecycle import LIFECYCLE_BUGS
from tests.simulation.planted_verification import VERIFICATION_BUGS, WITNESS_BUGS
from tests.simulation.scenario import Outcome, simulate
from tests.simulation.sqs_model import ARRIVALS

from bucketsum.errors import (
    NotHashed,
    ObjectGone,
    ObjectSuperseded,
    ObjectUnreadable,
    OutOfTime,
    Released,
)
from bucketsum.hashing import batch, object_hasher, result, small_objects
from bucketsum.invocation import deadline
from bucketsum.queue import dead_letters
from bucketsum.s3 import botocore_reader, get_object, response_head
from bucketsum.table import digests_table, outcome, rows
from bucketsum.table.digests_table import DigestsTable
from bucketsum_cli.dead_letters import redrive as dead_letter_redrive
from bucketsum_cli.dead_letters.queue import delete_letters

SCHEDULES_MAX: Final = 5_000
"""A planted bug that needs more schedules counts as not found."""

_CONDITION: Final = digests_table._IF_NEWER
_HANDLE: Final = batch.BatchHasher.handle
_HASHED: Final = object_hasher.ObjectHasher._hashed_or_handed_over
_GUARDED: Final = deadline.GuardedChunks.__iter__
_PARSED: Final = batch.BatchHasher._parsed
_PARAMETERS: Final = DigestsTable.put_parameters
_RECORD: Final = DigestsTable.record
_GET_OBJECT: Final = get_object.get_object
_RESPONSE: Final = get_object._Get.response
_ABSENCE: Final = get_object._Get.absence
_MISMATCH: Final = response_head.ResponseHead.mismatch
_SETTLE: Final = dead_letters.DeadLetters.settle
_ERROR_OF: Final = get_object._error_of
_EXISTS: Final = "attribute_not_exists(#object)"


@dataclass(frozen=True, slots=True)
class PlantedBug:
    """One bug.

    Attributes:
        name: The table's text.
        target: The object that is patched.
        attribute: Its attribute.
        replacement: The attribute's value while the bug is there.
    """

    name: str
    target: object
    attribute: str
    replacement: object

    def planted(self) -> AbstractContextManager[object]:
        """The product with the bug, for as long as the context lasts."""
        return patch.object(self.target, self.attribute, self.replacement)


class _BelievedHead(response_head.ResponseHead):
    """A head that is always the requested one."""

    __slots__ = ()

    def mismatch(self, *_: object) -> str:
        return ""


def _without(**unknown: None) -> Callable[..., Any]:
    def response(get: Any, version_id: str | None) -> Any:  # noqa: ANN401 - as the product's
        get = replace(get, created=replace(get.created, **unknown))
        return _RESPONSE(get, version_id and get.created.version_id)

    return response


def _resumed_unconditionally(s3: Any, created: Any, first: int = 0, end: Any = None) -> Any:  # noqa: ANN401 - as the product's
    bare = replace(created, etag=None, version_id=None) if first else created
    return _GET_OBJECT(s3, bare, first, end)


def _any_length(head: Any, created: Any, first: int = 0, end: Any = None) -> str:  # noqa: ANN401 - as the product's
    sent = replace(created, size_bytes=head.length) if end is None else created
    return _MISMATCH(head, sent, first, end)


def _refusal_is_believed(get: Any, doubt: Any) -> Any:  # noqa: ANN401 - as the product's
    return doubt if isinstance(doubt, NotHashed) else _ABSENCE(get, doubt)


def _other_object_is_newer(_: object, doubt: Any) -> Any:  # noqa: ANN401 - as the product's
    return doubt if isinstance(doubt, NotHashed) else ObjectSuperseded(str(doubt))


def _delete_first(hasher: Any, messages: Any, deadline: Any) -> Any:  # noqa: ANN401 - as the product's
    sqs = module_of("hasher")._dead_letters()._sqs
    for message in messages:
        with suppress(BotoCoreError, ClientError):
            sqs.delete_message(ARRIVALS, message.receipt_handle)
    return _HANDLE(hasher, messages, deadline)


def _known_by_any_row(hasher: Any, job: Any) -> Any:  # noqa: ANN401 - as the product's
    row = hasher._table.row_at(rows.row_key_of(job.created))
    return result.HashResult(job.created, outcome.Outcome.UNCHANGED) if row else job


def _reason_wins(table: DigestsTable, *row: Any) -> Any:  # noqa: ANN401 - a request
    request: Any = _PARAMETERS(table, *row)
    request["ConditionExpression"] = (
        request["ConditionExpression"]
        .replace("sequencer <", "sequencer <=", 1)
        .replace(digests_table._IF_NO_DIGEST, "")
    )
    if ":etag" not in request["ConditionExpression"]:
        request["ExpressionAttributeValues"].pop(":etag", None)
    return request


def _record_without_error(table: DigestsTable, row: rows.Row) -> outcome.Outcome:
    try:
        return _RECORD(table, row)
    except ClientError:
        return outcome.Outcome(row.status)


def _first_event(hasher: batch.BatchHasher, message: Any) -> batch.MessageResult:  # noqa: ANN401 - as the product's
    parsed = _PARSED(hasher, message)
    return replace(parsed, tasks=parsed.tasks[:1])


def _first_body(reader: Any, _: object, response: Any, *__: object) -> Iterator[bytes]:  # noqa: ANN401 - as the product's
    while chunk := response["Body"].read(reader._chunk_bytes):
        yield chunk


def _end_quietly(chunks: deadline.GuardedChunks) -> Iterator[bytes]:
    try:
        yield from _GUARDED(chunks)
    except OutOfTime:
        return


def _send_after_delete(stack: Any, messages: Any) -> Any:  # noqa: ANN401 - as the product's
    sqs = stack.client("sqs")
    if messages:
        delete_letters(stack, messages)
        dead_letter_redrive._send(sqs, stack.arrivals_queue_url, messages)
    return dead_letter_redrive.SentMessages([], [], [])


def _released_is_done(letters: Any, message: Any, error: Exception) -> dead_letters.Fate:  # noqa: ANN401 - as the product's
    fate = _SETTLE(letters, message, error)
    return dead_letters.Fate.DEAD_LETTERED if isinstance(error, Released) else fate


def _throttled_is_gone(error: ClientError) -> Exception:
    code = error.response["Error"]["Code"]
    return ObjectGone(code) if code == "SlowDown" else _ERROR_OF(error)


def _unreadable_is_forgotten(hasher: Any, *args: Any) -> Any:  # noqa: ANN401 - as the product's
    try:
        return _HASHED(hasher, *args)
    except ObjectUnreadable as error:
        raise ObjectGone(str(error)) from error


_TABLE: Final = (
    ("the row is written without a condition", digests_table, "_IF_NEWER",
     f"{_EXISTS} OR attribute_exists(#object)"),
    ("an older event overwrites a newer row", digests_table, "_IF_NEWER",
     _CONDITION.replace("sequencer <", "sequencer <>", 1)),
    ("an unreadable row overwrites the digest of the same event", DigestsTable, "put_parameters",
     _reason_wins),
    ("an unreadable row is never overwritten", digests_table, "_IF_NEWER",
     f"{_EXISTS} OR sequencer < :sequencer"),
    ("a newer event does not overwrite a row", digests_table, "_IF_NEWER", _EXISTS),
    ("sequencers are padded on the left", digests_table, "comparable_sequencer",
     lambda sequencer: sequencer.upper().rjust(32, "0")),
    ("the look-up accepts the row of any event", object_hasher.ObjectHasher, "_looked_up",
     _known_by_any_row),
    ("a write that DynamoDB refuses counts as written", DigestsTable, "record",
     _record_without_error),
    ("libcurl's write of a row counts whatever DynamoDB answers", small_objects, "is_written",
     lambda *_: True),
    ("libcurl's read of an object counts whatever S3 answers", small_objects, "ResponseHead",
     _BelievedHead),
    ("the length of an object is not compared", response_head.ResponseHead, "mismatch",
     _any_length),
    ("an entity tag that cannot be is taken for an overwritten object", get_object._Get, "absence",
     _other_object_is_newer),
    ("a 404 or 412 is believed at once", get_object._Get, "absence", _refusal_is_believed),
    ("an object is read without its entity tag", get_object._Get, "response", _without(etag=None)),
    ("an object is read without its version ID", get_object._Get, "response",
     _without(version_id=None)),
    ("reading resumes without conditions", botocore_reader, "get_object",
     _resumed_unconditionally),
    ("a body that ends early counts as complete", botocore_reader.BotocoreReader, "_chunks",
     _first_body),
    ("an object read in part is recorded", deadline.GuardedChunks, "__iter__", _end_quietly),
    ("S3's 503 is taken for a deleted object", get_object, "_error_of", _throttled_is_gone),
    ("an unreadable object gets no row", object_hasher.ObjectHasher, "_hashed_or_handed_over",
     _unreadable_is_forgotten),
    ("messages are deleted before their rows are written", batch.BatchHasher, "handle",
     _delete_first),
    ("only the first object of a message is hashed", batch.BatchHasher, "_parsed",
     _first_event),
    ("a failed message is reported as done", batch.MessageResult, "failure",
     property(lambda _: None)),
    ("a released message is reported as done", dead_letters.DeadLetters, "settle",
     _released_is_done),
    ("a dead-lettered message is deleted, not sent", dead_letters.DeadLetters, "_dead_letter",
     lambda *_: None),
    ("redrive deletes before it sends", dead_letter_redrive, "send_back", _send_after_delete),
)  # fmt: skip

PLANTED_BUGS: Final = tuple(
    PlantedBug(*row) for row in (*_TABLE, *LIFECYCLE_BUGS, *VERIFICATION_BUGS, *WITNESS_BUGS)
)


def first_violation(bug: PlantedBug, first_seed: int) -> Outcome | None:
    """The first of `SCHEDULES_MAX` schedules that finds *bug*; None if none does."""
    with bug.planted():
        outcomes = (simulate(first_seed + number) for number in range(SCHEDULES_MAX))
        return next((outcome for outcome in outcomes if outcome.violations), None)
