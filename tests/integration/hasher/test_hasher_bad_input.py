"""The hasher through its handler: messages and objects that are bad.

None of them loses a message: each is recorded, back on its queue, or dead-lettered with its reason.
"""

import hashlib
import re
from dataclasses import replace
from typing import Any

import pytest
from tests.integration.hasher.hasher_stack import HasherStack
from tests.integration.hasher.reading import put_at
from tests.support.events import message_of
from tests.support.log_lines import failures_in, metrics_in
from tests.support.s3_faults import THROTTLED, TRIES
from tests.support.s3_server import HostileS3

from bucketsum.backfill.messages import bodies_of
from bucketsum.events.object_events import DeletedBy
from bucketsum.table.items import NOT_HASHED, key_of
from bucketsum.table.rows import row_key_of
from bucketsum.table.sequencer import NO_SEQUENCER


@pytest.mark.parametrize("way", ["event", "backfill", "restore"])
def test_a_damaged_row_is_never_taken_for_another(stack: HasherStack, way: str) -> None:
    """Outcome: in the dead-letter queue, with the row's name and its damage; the row stays."""
    stack.keep_versions()
    deleted, good = stack.put("deleted", b"content"), stack.put("good", b"content")
    tombstone: dict[str, Any] = {
        **key_of(row_key_of(deleted)),
        "status": {"S": NOT_HASHED},
        "deleted_by": {"S": DeletedBy.REQUEST},
        "deletion_sequencer": {"S": "FF"},
    }
    stack.dynamodb.put_item(TableName="digests", Item=tombstone)
    listed = [replace(event, sequencer=NO_SEQUENCER) for event in (deleted, good)]
    created = message_of(deleted)
    bodies = {
        "event": [created, message_of(good)],
        "restore": [created.replace("ObjectCreated:Put", "ObjectRestore:Completed"),
                    message_of(good)],
        "backfill": [*bodies_of("b", listed)],  # both in one message
    }[way]  # fmt: skip
    assert stack.deliver(*bodies) == []
    assert stack.digests() == {"deleted": None, "good": hashlib.sha1(b"content").hexdigest()}
    assert stack.rows()["deleted", deleted.version_id or ""]["status"] == NOT_HASHED
    [(message, reason)] = stack.dead_letters().items()
    [damaged] = bodies_of("b", listed[:1])  # the dead letter of a backfill has no other object
    assert message == (damaged if way == "backfill" else bodies[0])
    assert re.match(r"DamagedRow: the row of 'inbox/deleted', .*: deleted_at is missing; ", reason)


def test_a_throttling_s3_delays_the_message(
    hostile_stack: HasherStack, hostile: HostileS3, capsys: pytest.CaptureFixture[str]
) -> None:
    """Outcome: back on the queue for 5 to 10 s instead of its own 90 min; no dead letter."""
    message = message_of(put_at(hostile, "a"))
    hostile.always = THROTTLED
    assert hostile_stack.deliver(message) == [message]
    assert len(hostile.requests) == TRIES
    assert (hostile_stack.digests(), hostile_stack.dead_letters()) == ({}, {})
    assert hostile_stack.after(10) == [message]
    output = capsys.readouterr().out
    assert metrics_in(output)["MessagesRetried"] == [1]
    [line] = failures_in(output)
    assert (line["message"], line["exception_name"]) == ("message retried", "SourceUnavailable")
    assert "SlowDown" in line["exception"]
