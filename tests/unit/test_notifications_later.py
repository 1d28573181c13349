"""Events of deleted and restored objects, as AWS's documentation and recordings show them."""

import json
from typing import Any, Final

import pytest
from tests.support.events import from_sns, with_field

from bucketsum.errors import MalformedMessage
from bucketsum.events.notifications import events_in
from bucketsum.events.object_events import DeletedBy, ObjectDeleted, ObjectRestored

MOMENT: Final = "2026-11-20T10:00:00.000Z"
VERSION: Final = "096fKKXTRTtl3on89fVO.nfljtsv6qko"
EMPTY_TAG: Final = "d41d8cd98f00b204e9800998ecf8427e"


def native(name: str, **fields: object) -> dict[str, Any]:
    """A native notification of one event."""
    record = {
        "eventVersion": "2.3",
        "eventSource": "aws:s3",
        "eventTime": MOMENT,
        "eventName": name,
        "s3": {"bucket": {"name": "inbox"}, "object": {"key": "a+b.jpg", **fields}},
    }
    return {"Records": [record]}


def from_eventbridge(kind: str, fields: dict[str, object], **detail: object) -> dict[str, Any]:
    """An event of EventBridge."""
    return {
        "version": "0",
        "detail-type": kind,
        "source": "aws.s3",
        "time": MOMENT,
        "detail": {
            "version": "0",
            "bucket": {"name": "inbox"},
            "object": {"key": "a b.jpg", **fields},
            **detail,
        },
    }


def deleted(version: str | None, by: DeletedBy, *, is_marker: bool) -> ObjectDeleted:
    """A deletion of the key of these events."""
    return ObjectDeleted("inbox", "a b.jpg", version, is_marker, by, "00AB", MOMENT)


REQUEST, LIFECYCLE = DeletedBy.REQUEST, DeletedBy.LIFECYCLE
DELETIONS: Final = [
    (native("ObjectRemoved:Delete", sequencer="00ab"), None, REQUEST, False),
    (
        native("ObjectRemoved:Delete", sequencer="00AB", versionId=VERSION, size=0, eTag=""),
        VERSION, REQUEST, False,
    ),
    (
        native("s3:ObjectRemoved:DeleteMarkerCreated", sequencer="00AB", versionId=VERSION,
               eTag=EMPTY_TAG),
        VERSION, REQUEST, True,
    ),
    (native("LifecycleExpiration:Delete", sequencer="00AB"), None, LIFECYCLE, False),
    (
        native("LifecycleExpiration:DeleteMarkerCreated", sequencer="00AB", versionId=VERSION),
        VERSION, LIFECYCLE, True,
    ),
    (
        from_eventbridge("Object Deleted", {"sequencer": "00AB"}, **{
            "reason": "DeleteObject", "deletion-type": "Permanently Deleted"}),
        None, REQUEST, False,
    ),
    (
        from_eventbridge("Object Deleted", {"sequencer": "00AB", "version-id": VERSION}, **{
            "reason": "Lifecycle Expiration", "deletion-type": "Permanently Deleted"}),
        VERSION, LIFECYCLE, False,
    ),
    (
        from_eventbridge(
            "Object Deleted",
            {"sequencer": "00AB", "version-id": VERSION, "etag": EMPTY_TAG},
            **{"reason": "DeleteObject", "deletion-type": "Delete Marker Created"},
        ),
        VERSION, REQUEST, True,
    ),
]  # fmt: skip


@pytest.mark.parametrize(("event", "version", "by", "is_marker"), DELETIONS)
def test_deletions_are_parsed(
    event: dict[str, Any], version: str | None, by: DeletedBy, *, is_marker: bool
) -> None:
    """A deletion has no size, and an entity tag only if it is a marker; also inside SNS."""
    expected = [deleted(version, by, is_marker=is_marker)]
    assert events_in(json.dumps(event)) == expected
    assert events_in(json.dumps(from_sns(event))) == expected


RESTORES: Final = [
    native("ObjectRestore:Completed", size=5, eTag="a-tag", versionId=VERSION, sequencer="00AB"),
    native("s3:ObjectRestore:Completed", size=5, eTag="a-tag", versionId=VERSION),
    from_eventbridge(
        "Object Restore Completed",
        {"size": 5, "etag": "a-tag", "version-id": VERSION},
        **{"restore-expiry-time": MOMENT, "source-storage-class": "GLACIER"},
    ),
]


@pytest.mark.parametrize("event", RESTORES)
def test_restores_need_no_sequencer(event: dict[str, Any]) -> None:
    """EventBridge's event has none; that of the native one is the object's, and is not needed."""
    restored = ObjectRestored("inbox", "a b.jpg", VERSION, "a-tag", 5, MOMENT)
    assert events_in(json.dumps(event)) == [restored]


@pytest.mark.parametrize(
    ("event", "path", "value", "reason"),
    [
        (DELETIONS[0][0], "Records.0.s3.object.sequencer", ..., "sequencer is None"),
        (DELETIONS[0][0], "Records.0.eventTime", "soon", "eventTime is 'soon'"),
        (DELETIONS[0][0], "Records.0.eventName", "ObjectRemoved:Undone", "eventName is"),
        (DELETIONS[0][0], "Records.0.eventName", "LifecycleTransition", "eventName is"),
        (DELETIONS[5][0], "detail.deletion-type", "Undone", "deletion-type is 'Undone'"),
        (DELETIONS[5][0], "detail.deletion-type", ..., "deletion-type is None"),
        (DELETIONS[5][0], "detail.reason", ["x"], "reason is"),
        (RESTORES[0], "Records.0.s3.object.size", ..., "size is None"),
        (RESTORES[0], "Records.0.eventName", "ObjectRestore:Delete", "eventName is"),
    ],
)
def test_a_wrong_field_is_named(
    event: dict[str, Any], path: str, value: object, reason: str
) -> None:
    """As for created objects: the message is kept, with the name of the field."""
    copy = json.loads(json.dumps(event))
    with pytest.raises(MalformedMessage, match=reason):
        events_in(with_field(copy, path, value))
