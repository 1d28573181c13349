"""The hasher through its handler: neighbours that fail, of a message, of a batch, of the function.

None of it loses a message or another object's result.
"""

import tracemalloc
from dataclasses import replace
from typing import Final

import pytest
from tests.integration.hasher.hasher_stack import HasherStack
from tests.integration.hasher.reading import put_at
from tests.integration.hasher.refusing_dynamodb import refusing_dynamodb
from tests.support.events import message_of
from tests.support.lambda_invocation import Context
from tests.support.s3_faults import Fault
from tests.support.s3_server import HostileS3

from bucketsum.queue.dead_letters import THROTTLED_SECONDS
from bucketsum.throttling import THROTTLED

CHUNK_BYTES: Final = 4 * 1024 * 1024


@pytest.mark.parametrize(
    "code",
    [
        "ProvisionedThroughputExceededException",
        "ThrottlingException",
        "AccessDeniedException",
        "ResourceNotFoundException",
        "InternalServerError",
    ],
)
def test_a_dynamodb_that_refuses_gives_the_message_back(
    stack: HasherStack, monkeypatch: pytest.MonkeyPatch, code: str
) -> None:
    """Outcome: back on the queue; nothing is success that is not recorded."""
    message = message_of(stack.put("a", b"content"))
    with refusing_dynamodb(code) as endpoint_url:
        monkeypatch.setenv("AWS_ENDPOINT_URL_DYNAMODB", endpoint_url)
        assert stack.deliver(message) == [message]
    assert stack.after(THROTTLED_SECONDS if code in THROTTLED else 10) == [message]


@pytest.mark.parametrize(
    ("faults", "remaining_ms"),
    [
        ([], 0),
        # cut off from libcurl, and refused to botocore
        (
            [*[Fault(cut_after=CHUNK_BYTES)] * 8, *[Fault(refuse=(403, "AccessDenied", ""))] * 8],
            900_000,
        ),
    ],
    ids=["out of time", "unreadable and DynamoDB refuses"],
)
def test_failures_hold_no_chunks(
    hostile_stack: HasherStack,
    hostile: HostileS3,
    monkeypatch: pytest.MonkeyPatch,
    faults: list[Fault],
    remaining_ms: int,
) -> None:
    """A batch of failures holds no bytes of its objects, so chunks never add up."""
    arrivals = [put_at(hostile, f"{number}", bytes(2 * CHUNK_BYTES)) for number in range(8)]
    messages = [message_of(replace(arrival, size_bytes=1)) for arrival in arrivals]
    hostile.script(*faults)
    with refusing_dynamodb("ThrottlingException") as endpoint_url:
        monkeypatch.setenv("AWS_ENDPOINT_URL_DYNAMODB", endpoint_url)
        hostile_stack.load(CHUNK_BYTES=str(CHUNK_BYTES))
        context = Context(remaining_ms=remaining_ms)
        tracemalloc.start()
        try:
            before, _ = tracemalloc.get_traced_memory()
            assert len(hostile_stack.deliver(*messages, context=context)) == len(messages)
            after, _ = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
    assert after - before < CHUNK_BYTES
