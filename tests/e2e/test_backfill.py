"""Objects from before their bucket's events: the deployed stack, through the command.

``BACKFILL_OBJECTS=20000 pytest tests/e2e/test_backfill.py`` runs it with as many objects.
"""

import hashlib
import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any, Final

import pytest
from tests.e2e.command import answer, physical_name, throttled, until

from bucketsum_cli.aws.stack import Stack

OBJECTS: Final = int(os.environ.get("BACKFILL_OBJECTS", "300"))
PREFIX: Final = "before/"
WAIT_SECONDS: Final = 600 + OBJECTS / 10


def content_of(number: int) -> bytes:
    """The content of an object."""
    return f"content of object {number}".encode()


@contextmanager
def without_events(stack: Stack) -> Iterator[None]:
    """Let the bucket notify nobody meanwhile."""
    s3 = stack.client("s3")
    configuration: Any = s3.get_bucket_notification_configuration(Bucket=stack.bucket)
    configuration.pop("ResponseMetadata")
    s3.put_bucket_notification_configuration(Bucket=stack.bucket, NotificationConfiguration={})
    try:
        yield
    finally:
        s3.put_bucket_notification_configuration(
            Bucket=stack.bucket, NotificationConfiguration=configuration
        )


def put_objects(stack: Stack) -> None:
    """Put the objects, in several folders."""
    s3 = stack.client("s3")

    def put(number: int) -> None:
        key = f"{PREFIX}{number % 3}/{number:06d}"
        s3.put_object(Bucket=stack.bucket, Key=key, Body=content_of(number))

    with ThreadPoolExecutor(8) as threads:
        list(threads.map(put, range(OBJECTS)))


def ended(backfill_id: str) -> Any:  # noqa: ANN401 - a JSON document
    """The backfill once it is done."""

    def progress() -> Any:  # noqa: ANN401 - as above
        shown = answer("backfill", "show", backfill_id)
        return shown if shown["state"] == "done" else None

    return until(progress, "the backfill to be done", WAIT_SECONDS)


def recorded(stack: Stack) -> dict[str, list[str | None]]:
    """Key → SHA-1 of its rows."""
    dynamodb = stack.client("dynamodb")
    rows: dict[str, list[str | None]] = {}
    for page in dynamodb.get_paginator("scan").paginate(TableName=stack.table):
        for item in page["Items"]:
            key = item["object"]["S"].partition("/")[2]
            if key.startswith(PREFIX):
                rows.setdefault(key, []).append(item.get("sha1", {}).get("S"))
    return rows


@pytest.mark.usefixtures("at_project")
def test_objects_from_before_are_hashed_once(stack: Stack) -> None:
    """Stopped, resumed, two at once on overlapping prefixes, repeated: every row, and no more."""
    with without_events(stack):
        put_objects(stack)
    estimate = answer("backfill", stack.bucket, "--prefix", PREFIX, "--dry-run")["estimate"]
    assert (estimate["object_count"], estimate["is_exact"]) == (OBJECTS, True)
    assert answer("backfill", "list") == []

    # Else all could be queued before it is stopped; executions try again for a minute.
    with throttled(stack, physical_name(stack, "EnqueuerFunction")):
        whole = answer("backfill", stack.bucket, "--prefix", PREFIX, "--yes")["backfill"]
        answer("backfill", "stop", whole)
    folder = answer("backfill", stack.bucket, "--prefix", f"{PREFIX}1/", "--yes")["backfill"]
    answer("backfill", "resume", whole)
    first, second = ended(whole), ended(folder)

    expected = {
        f"{PREFIX}{number % 3}/{number:06d}": [hashlib.sha1(content_of(number)).hexdigest()]
        for number in range(OBJECTS)
    }
    assert recorded(stack) == expected
    for progress in (first, second):
        assert progress["tally"]["failed"] == progress["tally"]["gone"] == 0
    assert first["queued"]["object_count"] == OBJECTS
    assert second["queued"]["object_count"] == OBJECTS // 3

    again = ended(answer("backfill", stack.bucket, "--prefix", PREFIX, "--yes")["backfill"])
    assert (again["tally"]["hashed"], again["tally"]["skipped"]) == (0, OBJECTS)
    assert recorded(stack) == expected
