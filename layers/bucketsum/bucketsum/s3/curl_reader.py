"""A source over libcurl, for the usual; whatever is not usual is left to botocore."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from botocore.exceptions import BotoCoreError

from bucketsum.s3.curl_connections import Connections, TransportConfig
from bucketsum.s3.get_object import if_match
from bucketsum.s3.ordered_ranges import FallBack, OrderedRanges
from bucketsum.s3.source import OpenObject, ResumeBudget

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

    from bucketsum.notifications import ObjectCreated
    from bucketsum.s3.botocore_reader import BotocoreReader
    from bucketsum.s3.read_plan import ReadPlan
    from bucketsum.s3.signed_urls import SignedUrls


class CurlReader:
    """Reads objects over libcurl, by requests whose addresses botocore signs.

    An object whose answer is not what was asked for is read by *otherwise* instead, from the byte
    reached: it knows redirects, retries, every refusal's meaning and where credentials come from.
    A connection that breaks is continued here, as often as `ResumeBudget` allows.

    Several objects may be open at once, in threads of their own too. Each has connections of its
    own, which the next object finds open.
    """

    def __init__(
        self,
        urls: SignedUrls,
        access: TransportConfig,
        plan_for: Callable[[int], ReadPlan],
        otherwise: BotocoreReader,
        pause: Callable[[float], None] = time.sleep,
    ) -> None:
        """Read an object of so many bytes as *plan_for* says."""
        self._urls = urls
        self._access = access
        self._plan_for = plan_for
        self._otherwise = otherwise
        self._pause = pause
        self._idle: list[Connections] = []

    def open(self, arrival: ObjectCreated) -> OpenObject:
        """See `Source.open`."""
        connections = self._idle.pop() if self._idle else Connections(self._access)
        resumes = ResumeBudget(self._pause)
        plan = self._plan_for(arrival.size_bytes)
        try:
            reading = OrderedRanges(connections, lambda: self._urls.url_of(arrival), plan, resumes)
            answer = reading.begin(arrival.size_bytes, if_match(arrival))
        except (FallBack, BotoCoreError):
            self._take_back(connections)
            return self._otherwise.open(arrival)
        etag = answer.etag.strip('"')
        return OpenObject(
            size_bytes=reading.size_bytes,
            etag=etag,
            version_id=answer.version_id,
            chunks=self._chunks(connections, reading, arrival, etag, resumes),
            streams=reading.streams,
        )

    def _chunks(
        self,
        connections: Connections,
        reading: OrderedRanges,
        arrival: ObjectCreated,
        etag: str,
        resumes: ResumeBudget,
    ) -> Generator[bytes]:
        handed_over = False
        try:
            yield from reading.chunks()
        except (FallBack, BotoCoreError):
            handed_over = True
        finally:
            self._take_back(connections)
        if handed_over:
            yield from self._otherwise.rest(
                arrival, etag, reading.size_bytes, reading.offset, resumes
            )

    def _take_back(self, connections: Connections) -> None:
        connections.drop_all()
        self._idle.append(connections)
