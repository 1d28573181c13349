"""Hashing on a second core, while the first reads on and inflates."""

from __future__ import annotations

from collections import deque
from threading import Condition, Thread
from typing import TYPE_CHECKING, Final, Self

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    Bytes = bytes | memoryview
    Call = Callable[[Bytes], object]

WAITING_BYTES: Final = 1024 * 1024
"""How many bytes may wait; of what is larger, one."""


class BackgroundCalls:
    """Makes calls in a thread of its own, one after the other as they were given."""

    def __init__(self) -> None:
        self._calls: deque[tuple[Call, Bytes]] = deque()
        self._waiting_bytes = 0
        self._changed = Condition()
        self._ends = False
        self._failure: BaseException | None = None
        self._thread = Thread(target=self._make_calls, name="aside", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        """Wait for all calls; where something was raised, for the one that is being made."""
        with self._changed:
            if kind is not None:
                self._calls.clear()
            self._ends = True
            self._changed.notify_all()
        self._thread.join()
        if kind is None:
            self._raise_failure()

    def do(self, call: Call, data: Bytes) -> None:
        """Let *call* be made with *data* soon; waits while too much waits already.

        Raises:
            BaseException: What a call before has raised; no more are made then.
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
        """Wait until every call has been made; raises as `do`."""
        with self._changed:
            self._changed.wait_for(lambda: not self._waiting_bytes)
        self._raise_failure()

    def passing(self, call: Call, chunks: Iterable[bytes]) -> Iterator[bytes]:
        """Let *call* have each chunk on its way to somebody else."""
        for chunk in chunks:
            self.do(call, chunk)
            yield chunk

    def _raise_failure(self) -> None:
        if self._failure:
            raise self._failure

    def _make_calls(self) -> None:
        while (one := self._next()) is not None:
            call, data = one
            try:
                if self._failure is None:
                    call(data)
            except BaseException as error:  # noqa: BLE001 - whoever waits for it raises it
                self._failure = error
            self._made(len(data))
            del one, data  # a chunk is not kept for as long as the next takes to come

    def _next(self) -> tuple[Call, Bytes] | None:
        with self._changed:
            self._changed.wait_for(lambda: self._calls or self._ends)
            return self._calls.popleft() if self._calls else None

    def _made(self, size: int) -> None:
        with self._changed:
            self._waiting_bytes -= size
            self._changed.notify_all()
