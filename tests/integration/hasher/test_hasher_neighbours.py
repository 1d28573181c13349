"""The hasher through its handler: neighbours that fail, of a message, of a batch, of the function.

None of it loses a message or another object's result.
"""

import json
import tracemalloc
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Final

import pytest
from tests.integration.hasher.hasher_stack import HasherStack
from tests.integration.hasher.reading import put_at
from tests.support.events import message_of
from tests.support.lambda_invocation import Context
from tests.support.s3_faults import Fault
from tests.support.s3_server import HostileS3
from tests.support.servers import Handler, Server, serving

from bucketsum.queue.dead_letters import THROTTLED_SECONDS
from bucketsum.throttling import THROTTLED

CHUNK_BYTES: Final = 4 * 1024 * 1024


@contextmanager
def refusing_dynamodb(code: str) -> Iterator[str]:
    """A DynamoDB on this machine that refuses everything; yields the endpoint's URL."""
    body = json.dumps({"__type": f"com.amazonaws.dynamodb.v20120810#{code}", "message": "no"})

    class Refusing(Handler):
        def do_POST(self) -> None:  # noqa: N802 - as http.server names it
            self.rfile.read(int(self.headers["Content-Length"]))
            self.send_response(400)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body.encode())

    with serving(Server(Refusing)) as server:
        yield f"http://127.0.0.1:{server.server_address[1]}"


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
