"""A source over libcurl, for the usual; whatever is not usual is left to botocore."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from botocore.exceptions import BotoCoreError

from bucketsum.reading.asking import if_match
from bucketsum.reading.connections import Access, Connections
from bucketsum.reading.ordered_ranges import HandOver, OrderedRanges
from bucketsum.reading.source import OpenObject, Resumes

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

    from bucketsum.arrivals import Arrival
    from bucketsum.reading.signing import SignedUrls
    from bucketsum.reading.single_stream import SingleStream
    from bucketsum.reading.streams import Plan


class CurlReader:
    """Reads objects over libcurl, by requests whose addresses botocore signs.

    An object whose answer is not what was asked for is read by *otherwise* instead, from the byte
    reached: it knows redirects, retries, every refusal's meaning and where credentials come from.
    A connection that breaks is continued here, as often as `Resumes` allows.

    Several objects may be open at once, in threads of their own too. Each has connections of its
    own, which the next object finds open.
    """

    def __init__(
        self,
        urls: SignedUrls,
        access: Access,
        plan_for: Callable[[int], Plan],
        otherwise: SingleStream,
        pause: Callable[[float], None] = time.sleep,
    ) -> None:
        """Read an object of so many bytes as *plan_for* says."""
        self._urls = urls
        self._access = access
        self._plan_for = plan_for
        self._otherwise = otherwise
        self._pause = pause
        self._idle: list[Connections] = []

    def open(self, arrival: Arrival) -> OpenObject:
        """See `Source.open`."""
        connections = self._idle.pop() if self._idle else Connections(self._access)
        resumes = Resumes(self._pause)
        plan = self._plan_for(arrival.size_bytes)
        try:
            reading = OrderedRanges(connections, lambda: self._urls.url_of(arrival), plan, resumes)
            answer = reading.begin(arrival.size_bytes, if_match(arrival))
        except (HandOver, BotoCoreError):
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
        arrival: Arrival,
        etag: str,
        resumes: Resumes,
    ) -> Generator[bytes]:
        handed_over = False
        try:
            yield from reading.chunks()
        except (HandOver, BotoCoreError):
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
