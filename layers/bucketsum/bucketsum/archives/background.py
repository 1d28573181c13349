"""Hashing on a second core, while the first continues to read and decompress."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from threading import Condition, Thread
from typing import Final, Self

Bytes = bytes | memoryview
Call = Callable[[Bytes], object]

WAITING_BYTES: Final = 1024 * 1024
"""Maximum queued bytes. A single larger piece is accepted when the queue is empty."""


class BackgroundCalls:
    """Makes calls one after the other, in a thread of its own."""

    def __init__(self) -> None:
        self._calls: deque[tuple[Call, Bytes]] = deque()
        self._waiting_bytes = 0
        self._changed = Condition()
        self._ends = False
        self._failure: BaseException | None = None
        self._thread = Thread(target=self._make_calls, name="background", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        """Wait for all calls; after an error, for the current call alone."""
        with self._changed:
            if kind is not None:
                self._calls.clear()
            self._ends = True
            self._changed.notify_all()
        self._thread.join()
        if kind is None:
            self._raise_failure()

    def do(self, call: Call, data: Bytes) -> None:
        """Queue *call* with *data*; waits while the queue is full.

        Raises:
            BaseException: A call before has raised it; no more are made.
        """
        size = len(data)
        with self._changed:
            self._changed.wait_for(
                lambda: not self._waiting_bytes or self._waiting_bytes + size <= WAITING_BYTES
            )
            self._raise_failure()
            self._calls.append((call, data))
            self._waiting_bytes += size
            self._changed.notify_all()

    def wait(self) -> None:
        """Wait until every call has been made; raises the same errors as `do`."""
        with self._changed:
            self._changed.wait_for(lambda: not self._waiting_bytes)
        self._raise_failure()

    def passing(self, call: Call, chunks: Iterable[bytes]) -> Iterator[bytes]:
        """Queue *call* with each chunk, and pass the chunk on."""
        for chunk in chunks:
            self.do(call, chunk)
            yield chunk

    def _raise_failure(self) -> None:
        if self._failure:
            raise self._failure

    def _make_calls(self) -> None:
        while (queued := self._next()) is not None:
            call, data = queued
            try:
                if self._failure is None:
                    call(data)
            except BaseException as error:  # noqa: BLE001 - raised in the thread that waits for it
                self._failure = error
            self._release(len(data))
            del queued, data  # a chunk is not kept while the next one is on its way

    def _next(self) -> tuple[Call, Bytes] | None:
        with self._changed:
            self._changed.wait_for(lambda: self._calls or self._ends)
            return self._calls.popleft() if self._calls else None

    def _release(self, size: int) -> None:
        with self._changed:
            self._waiting_bytes -= size
            self._changed.notify_all()
