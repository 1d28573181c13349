"""Batches of messages for one request to SQS."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Final, TypeVar

_Message = TypeVar("_Message")

BATCH_MESSAGES: Final = 10  # SQS's own limit
_BATCH_BYTES: Final = 256 * 1024  # a quarter of SQS's limit; a single message may be larger


def batches_of(
    messages: Iterable[_Message], text_of: Callable[[_Message], str]
) -> Iterator[list[_Message]]:
    """Split *messages*, in order, into batches for one request to SQS; *text_of* gives a body."""
    batch: list[_Message] = []
    batch_bytes = 0
    for message in messages:
        size = len(text_of(message).encode())
        if batch and (len(batch) == BATCH_MESSAGES or batch_bytes + size > _BATCH_BYTES):
            yield batch
            batch, batch_bytes = [], 0
        batch.append(message)
        batch_bytes += size
    if batch:
        yield batch
