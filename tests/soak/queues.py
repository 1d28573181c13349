"""The arrivals queue during a soak: its length, and waiting until it is empty."""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from bucketsum_cli.aws.stack import Stack
from bucketsum_cli.commands.local.deployment import require_start
from bucketsum_cli.terminal.errors import CannotDoError

VISIBILITY_SECONDS: Final = 30
"""In place of the template's 5,400: a message of a killed worker comes back in time."""

BACKLOG_MAX: Final = 400
"""Uploads wait while there are more messages, so that faults and uploads come together."""

_LENGTHS: Final = (
    "ApproximateNumberOfMessages",
    "ApproximateNumberOfMessagesNotVisible",
    "ApproximateNumberOfMessagesDelayed",
)
_READ_EVERY: Final = 20
_POLL_SECONDS: Final = 0.5
_EMPTY_READINGS: Final = 4
_STUCK_SECONDS: Final = 300


class Backlog:
    """The messages of the arrivals queue.

    Attributes:
        length: Their number at the last reading.
        given_up: Set when nobody waits for the uploads any more.
    """

    def __init__(self, stack: Stack) -> None:
        self._sqs = stack.client("sqs")
        self._url = stack.arrivals_queue_url
        self.length = 0
        self.given_up = threading.Event()
        self._uploads = 0
        self._lock = threading.Lock()

    def read(self) -> int:
        """Read the length."""
        answer = self._sqs.get_queue_attributes(QueueUrl=self._url, AttributeNames=_LENGTHS)
        self.length = sum(map(int, answer["Attributes"].values()))
        return self.length

    def wait_for_room(self) -> None:
        """Wait while there are too many messages; called before each upload by its thread."""
        with self._lock:
            self._uploads += 1
            if self._uploads % _READ_EVERY == 0:
                while self.read() > BACKLOG_MAX and not self.given_up.wait(_POLL_SECONDS):
                    pass

    def drain(self) -> Iterator[int]:
        """Yield the length until the queue is empty.

        Raises:
            CannotDoError: It does not become shorter for five minutes.
        """
        shortest, empty, since = self.read(), 0, time.monotonic()
        while empty < _EMPTY_READINGS:
            time.sleep(_POLL_SECONDS)
            yield self.read()
            empty = empty + 1 if self.length == 0 else 0
            if self.length < shortest:
                shortest, since = self.length, time.monotonic()
            if self.length and time.monotonic() - since > _STUCK_SECONDS:
                raise CannotDoError(f"{self.length} messages stay in the arrivals queue")


@contextmanager
def through_proxy(stack: Stack, endpoint: str) -> Iterator[None]:
    """Let the hasher use *endpoint* for all AWS services during the block."""
    client = stack.client("lambda")
    before = client.get_function_configuration(FunctionName=stack.function)["Environment"]
    variables = {**before["Variables"], "AWS_ENDPOINT_URL": endpoint}
    client.update_function_configuration(
        FunctionName=stack.function, Environment={"Variables": variables}
    )
    try:
        require_start(stack)
        yield
    finally:
        client.update_function_configuration(
            FunctionName=stack.function, Environment={"Variables": before["Variables"]}
        )
    require_start(stack)


@contextmanager
def visibility_of(stack: Stack, seconds: int) -> Iterator[None]:
    """Let messages of a killed worker come back after *seconds* during the block."""
    sqs, url = stack.client("sqs"), stack.arrivals_queue_url
    name: Final = "VisibilityTimeout"
    before = sqs.get_queue_attributes(QueueUrl=url, AttributeNames=[name])["Attributes"][name]
    sqs.set_queue_attributes(QueueUrl=url, Attributes={name: str(seconds)})
    try:
        yield
    finally:
        sqs.set_queue_attributes(QueueUrl=url, Attributes={name: before})
