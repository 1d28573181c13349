"""Reader over libcurl for usual responses; botocore reads the others."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator

from botocore.exceptions import BotoCoreError

from bucketsum.errors import BucketsumError
from bucketsum.events.object_events import ObjectCreated
from bucketsum.s3.botocore_reader import BotocoreReader
from bucketsum.s3.curl_connections import Connections, TransportConfig
from bucketsum.s3.ordered_ranges import FallBack, OrderedRanges
from bucketsum.s3.read_plan import ReadPlan
from bucketsum.s3.signed_requests import SignedRequests
from bucketsum.s3.source import OpenObject, ResumeBudget


class CurlReader:
    """Reads objects over libcurl, by signed requests.

    If a response is not as requested, *fallback* reads the object from the byte reached: botocore
    knows redirects, retries, the meaning of every refusal and the sources of credentials. A broken
    connection is resumed here, as often as `ResumeBudget` allows.

    Several objects may be open at once, also in different threads. Each has connections of its
    own, which stay open for the next object.
    """

    def __init__(
        self,
        requests: SignedRequests,
        config: TransportConfig,
        plan_for: Callable[[int], ReadPlan],
        fallback: BotocoreReader,
        pause: Callable[[float], None] = time.sleep,
    ) -> None:
        """Read an object of *n* bytes by ``plan_for(n)``."""
        self.requests = requests
        self.config = config
        self._plan_for = plan_for
        self._fallback = fallback
        self._pause = pause
        self._idle: list[Connections] = []

    def open(
        self, created: ObjectCreated, offset: int = 0, doubt: BucketsumError | None = None
    ) -> OpenObject:
        """See `Source.open` for the contract."""
        if doubt:
            return self._fallback.open(created, offset, doubt)
        connections = self._idle.pop() if self._idle else Connections(self.config)
        budget = ResumeBudget(self._pause)
        plan = self._plan_for(created.size_bytes - offset)
        try:
            ranges = OrderedRanges(connections, created, self.requests.get_of, plan, budget)
            begun = ranges.begin(offset)
        except (FallBack, BotoCoreError) as error:
            self._release(connections)
            doubt = error.doubt if isinstance(error, FallBack) else None
            return self._fallback.open(created, offset, doubt)
        return OpenObject(
            size_bytes=created.size_bytes - offset,
            etag=begun.etag or "",
            chunks=self._chunks(connections, ranges, begun, budget),
            streams=ranges.streams,
            headers=ranges.headers,
        )

    def another(self) -> CurlReader:
        """A reader with connections of its own."""
        plan_for, fallback = self._plan_for, self._fallback.another()
        return CurlReader(self.requests, self.config, plan_for, fallback, self._pause)

    def _chunks(
        self,
        connections: Connections,
        ranges: OrderedRanges,
        begun: ObjectCreated,
        budget: ResumeBudget,
    ) -> Generator[bytes]:
        falls_back = False
        try:
            yield from ranges.chunks()
        except (FallBack, BotoCoreError):
            falls_back = True
        finally:
            self._release(connections)
        if falls_back:
            yield from self._fallback.open(begun, ranges.offset, budget=budget).chunks

    def _release(self, connections: Connections) -> None:
        connections.drop_all()
        self._idle.append(connections)
