"""Concurrent GETs of spans and of whole objects over libcurl, from one thread."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import islice
from typing import Final

from bucketsum.errors import SourceUnavailable
from bucketsum.events.object_events import ObjectCreated
from bucketsum.s3.curl_connections import Connections, Transfer
from bucketsum.s3.response_head import ResponseHead
from bucketsum.s3.signed_requests import SignedRequests
from bucketsum.s3.source import ResumeBudget
from bucketsum_lab.workloads.records.index import Span

_RETRIES: Final = 3
_SERVER_ERROR: Final = 500


@dataclass(frozen=True, slots=True)
class Get:
    """A request for a range."""

    created: ObjectCreated
    """Its size counts if there is a span."""
    span: Span | None = None
    """Bytes to read; None for the whole object."""

    @property
    def headers(self) -> tuple[str, ...]:
        """The range, if there is one."""
        return (f"Range: bytes={self.span.offset}-{self.span.end - 1}",) if self.span else ()


@dataclass(frozen=True, slots=True)
class Received:
    """A response that is complete."""

    number: int
    """Index of its request."""
    data: bytes
    seconds: float
    """From the first request to the last byte, retries included."""


@dataclass(slots=True)
class _Running:
    number: int
    get: Get
    started: float
    """By `time.perf_counter`."""
    retries: int = 0


class ConcurrentGets:
    """Sends requests over connections that stay open for the next ones."""

    def __init__(self, connections: Connections, requests: SignedRequests) -> None:
        self._connections = connections
        self._requests = requests
        self.retried = 0
        """Requests that were repeated, in all."""

    def responses(self, gets: Iterable[Get], at_once: int) -> Iterator[Received]:
        """The response to each of *gets*, as they come; at most *at_once* requests run.

        Raises:
            SourceUnavailable: S3 refused a request, or did not answer it in four attempts.
        """
        waiting = (_Running(*pair, time.perf_counter()) for pair in enumerate(gets))
        running: dict[Transfer, _Running] = {}
        try:
            while True:
                for request in islice(waiting, at_once - len(running)):
                    self._start(request, running)
                if not running:
                    return
                yield from self._received(running)
        finally:
            self._connections.drop_all()

    def _received(self, running: dict[Transfer, _Running]) -> Iterator[Received]:
        """Receive; responses that are complete leave *running*."""
        self._connections.advance()
        ended = [transfer for transfer in running if transfer.ended]
        if not ended:
            self._connections.wait_for(next(iter(running)))
        for transfer in ended:
            request = running.pop(transfer)
            if _is_complete(transfer, request.get):
                seconds = time.perf_counter() - request.started
                yield Received(request.number, b"".join(transfer.pieces), seconds)
            else:
                self._repeat(request, _refusal(transfer))
                self._start(request, running)

    def _start(self, request: _Running, running: dict[Transfer, _Running]) -> None:
        signed = self._requests.get_of(request.get.created)
        headers = [*signed.headers, *request.get.headers]
        running[self._connections.start(signed.url, headers)] = request

    def _repeat(self, request: _Running, reason: str) -> None:
        """Wait before another attempt.

        Raises:
            SourceUnavailable: There were enough.
        """
        if request.retries == _RETRIES:
            raise SourceUnavailable(f"a read failed {_RETRIES + 1} times: {reason}")
        ResumeBudget().pause(request.retries)
        request.retries += 1
        self.retried += 1


def _is_complete(transfer: Transfer, get: Get) -> bool:
    """Whether all bytes came."""
    head, received = ResponseHead.of(transfer.lines), sum(map(len, transfer.pieces))
    if transfer.failure or received != head.length:
        return False
    span = get.span
    if span is None:
        return not head.mismatch(replace(get.created, size_bytes=received))
    return not head.mismatch(get.created, span.offset, span.end)


def _refusal(transfer: Transfer) -> str:
    """The reason why the response is not complete.

    Raises:
        SourceUnavailable: Another attempt would not help.
    """
    status = ResponseHead.of(transfer.lines).status
    reason = transfer.failure or f"HTTP status {status}"
    if 0 < status < _SERVER_ERROR and not transfer.failure:
        raise SourceUnavailable(f"S3 refused a read: {reason}")
    return reason
