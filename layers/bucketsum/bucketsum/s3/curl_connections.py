"""Connections to S3 and transfers on them; the only module that uses pycurl."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Final

import pycurl

from bucketsum import __version__

READ_BYTES: Final = 32 * 1024
"""Size of libcurl's receive buffer. Over TLS it passes on pieces of 16 KiB, the TLS records.

Measured over TLS: 32 KiB to 512 KiB cost the same CPU time, 16 KiB a fifth more. Over plain HTTP
one call of libcurl brings 11 times as much.
"""

HELD_BYTES: Final = 1024 * 1024
"""Most memory held for an object read in one stream, in addition to libcurl's own buffers.

Measured: 0.6 MB over plain HTTP, 0.5 MB over TLS.
"""

IDLE_SECONDS_MAX: Final = 30
"""Idle time after which a connection is not used again.

S3 closes connections that are idle for too long, or answers the next request on them with an error.
"""

IDLE_CONNECTIONS_MAX: Final = 32

_SUPPRESS_CONNECT_HEADERS: Final = 265
"""libcurl's option, for which pycurl has no name: a proxy's head would pass for that of S3."""

_LONGEST_WAIT_SECONDS: Final = 1.0
_NO_SOCKET_SECONDS: Final = 0.002
_GATHERING_SECONDS: Final = 0.002
"""At 75 MiB/s, ten TLS records come meanwhile. Measured: 1 ms saves less CPU time; with 6 ms, a
batch of ten small objects is read more slowly."""


@dataclass(frozen=True, slots=True)
class TransportConfig:
    """CA bundle, time-outs and proxies for connections to S3.

    Attributes:
        ca_bundle: File of the trusted certificate authorities.
        connect_timeout_seconds: Limit on connecting, TLS included.
        read_timeout_seconds: Silence after which a connection counts as broken.
        proxy_of: URL → the URL of its proxy; empty for none.
    """

    ca_bundle: str
    connect_timeout_seconds: float
    read_timeout_seconds: float
    proxy_of: Callable[[str], str]


@dataclass(slots=True, eq=False)
class Transfer:
    """One request and the part of its response received so far.

    Attributes:
        pieces: Bytes of the body that nobody has taken yet.
        lines: Header lines as received, and after the body those of a trailer.
        waited_seconds: Time spent waiting for it since bytes came.
        seen_bytes: Bytes of the body that had come at the last wait, or at the end.
        ended: Whether nothing more will come.
        failure: libcurl's reason for an early end; empty if it did not end early.
    """

    handle: pycurl.Curl
    pieces: list[bytes] = field(default_factory=list)
    lines: list[bytes] = field(default_factory=list)
    waited_seconds: float = 0.0
    seen_bytes: int = 0
    ended: bool = False
    failure: str = ""

    @property
    def head_complete(self) -> bool:
        """Whether all headers have come: body bytes or the end follow them."""
        return bool(self.pieces) or self.ended

    @property
    def received_bytes(self) -> int:
        """Bytes of the body that have come."""
        if self.ended:  # its handle may serve another transfer
            return self.seen_bytes
        return int(self.handle.getinfo(pycurl.SIZE_DOWNLOAD_T))

    @property
    def first_byte_seconds(self) -> float:
        """Time from the request to the first byte of its response."""
        info = self.handle.getinfo
        return float(info(pycurl.STARTTRANSFER_TIME) - info(pycurl.PRETRANSFER_TIME))


class Connections:
    """Transfers of one thread, and the connections that stay open for the next ones.

    Nothing happens between calls: once the kernel's buffers are full, S3 stops sending.
    """

    def __init__(self, config: TransportConfig) -> None:
        self._config = config
        self._multi = pycurl.CurlMulti()
        # By default libcurl closes connections beyond four times the transfers that still run.
        self._multi.setopt(pycurl.M_MAXCONNECTS, IDLE_CONNECTIONS_MAX)
        self._idle: list[pycurl.Curl] = []
        self._running: dict[pycurl.Curl, Transfer] = {}

    def start(
        self,
        url: str,
        headers: Iterable[str],
        receive: Callable[[bytes], object] | None = None,
        bytes_max: int = 0,
    ) -> Transfer:
        """Start a GET of *url*.

        The body goes to *receive* as it comes, and a silence of the read time-out ends the
        transfer; without *receive*, the body waits in the transfer's `pieces`. A response that
        announces more than *bytes_max* bytes ends after its headers; 0 means no limit.
        """
        return self._start((pycurl.HTTPGET, 1), url, headers, receive, bytes_max)

    def post(
        self, url: str, headers: Iterable[str], body: bytes, timeout_seconds: float
    ) -> Transfer:
        """Start a POST of *body*, which ends after *timeout_seconds* at the latest."""
        timeout_ms = round(timeout_seconds * 1000)
        return self._start((pycurl.POSTFIELDS, body), url, headers, None, 0, timeout_ms)

    def _start(
        self,
        request: tuple[int, int | bytes],
        url: str,
        headers: Iterable[str],
        receive: Callable[[bytes], object] | None,
        bytes_max: int,
        timeout_ms: int = 0,
    ) -> Transfer:
        handle = self._idle.pop() if self._idle else self._new_handle()
        transfer = Transfer(handle)
        handle.setopt(*request)
        handle.setopt(pycurl.TIMEOUT_MS, timeout_ms)
        handle.setopt(pycurl.LOW_SPEED_LIMIT, 1 if receive else 0)
        handle.setopt(pycurl.MAXFILESIZE_LARGE, bytes_max)
        handle.setopt(pycurl.URL, url)
        handle.setopt(pycurl.PROXY, self._config.proxy_of(url))
        handle.unsetopt(pycurl.HTTPHEADER)  # an empty list would leave those of an earlier request
        handle.setopt(pycurl.HTTPHEADER, list(headers))
        handle.setopt(pycurl.HEADERFUNCTION, transfer.lines.append)
        handle.setopt(pycurl.WRITEFUNCTION, receive or transfer.pieces.append)
        self._running[handle] = transfer
        self._multi.add_handle(handle)
        return transfer

    def drop(self, transfer: Transfer) -> None:
        """End *transfer*. Its connection stays open if all bytes have come, else it is closed."""
        handle = transfer.handle
        if self._running.get(handle) is not transfer:
            return  # it has ended, and its handle serves another
        del self._running[handle]
        self._multi.remove_handle(handle)
        transfer.seen_bytes, transfer.ended = transfer.received_bytes, True
        handle.setopt(pycurl.HEADERFUNCTION, _ignore)  # an idle handle must not keep the
        handle.setopt(pycurl.WRITEFUNCTION, _ignore)  # transfer's bytes in memory
        self._idle.append(handle)

    def advance(self) -> list[Transfer]:
        """Receive the bytes that have come for every transfer; returns those that have ended."""
        _, running = self._multi.perform()
        ended = []
        while running < len(self._running):
            _, done, failed = self._multi.info_read()
            ended += [self._end(handle, "") for handle in done]
            ended += [
                self._end(handle, text or "the transfer failed") for handle, _, text in failed
            ]
        return ended

    def wait(self) -> None:
        """Wait until bytes come for any transfer, or a second has passed.

        With several transfers, let more bytes come then: looking at all of them costs as much as
        receiving some 10 kB.
        """
        self._wait(_LONGEST_WAIT_SECONDS)
        if len(self._running) > 1:
            time.sleep(_GATHERING_SECONDS)

    def gather(self) -> None:
        """Pause so that more bytes arrive, unless some are already waiting to be read."""
        if self._multi.timeout() != 0:  # 0 if `advance` ended with more to read
            time.sleep(_GATHERING_SECONDS)

    def wait_for(self, transfer: Transfer) -> None:
        """Wait until bytes come for any transfer; end *transfer* if its read time-out has passed.

        Only time spent waiting counts, because the consumer of the bytes may be slow.
        """
        if transfer.ended:
            return
        if transfer.received_bytes != transfer.seen_bytes:  # its handle begins with an older count
            transfer.seen_bytes, transfer.waited_seconds = transfer.received_bytes, 0.0
        left = self._config.read_timeout_seconds - transfer.waited_seconds
        if left <= 0:
            silence = f"nothing came for {self._config.read_timeout_seconds:g} s"
            self._end(transfer.handle, silence)
            return
        started = time.monotonic()
        self._wait(min(left, _LONGEST_WAIT_SECONDS))
        transfer.waited_seconds += time.monotonic() - started

    def drop_all(self) -> None:
        """End every transfer that is open."""
        for transfer in list(self._running.values()):
            self.drop(transfer)

    def _wait(self, longest: float) -> None:
        timer_ms = self._multi.timeout()
        seconds = min(longest, timer_ms / 1000) if timer_ms >= 0 else longest
        if self._multi.select(seconds) < 0:  # no socket yet, as before the name is resolved
            time.sleep(_NO_SOCKET_SECONDS)

    def _end(self, handle: pycurl.Curl, failure: str) -> Transfer:
        transfer = self._running[handle]
        self.drop(transfer)
        transfer.failure = failure
        return transfer

    def _new_handle(self) -> pycurl.Curl:
        handle = pycurl.Curl()
        handle.setopt(pycurl.NOSIGNAL, 1)
        handle.setopt(pycurl.USERAGENT, f"bucketsum/{__version__}")  # shown in S3's access log
        handle.setopt(pycurl.HTTP_VERSION, pycurl.CURL_HTTP_VERSION_1_1)
        handle.setopt(pycurl.PROTOCOLS, pycurl.PROTO_HTTP | pycurl.PROTO_HTTPS)
        handle.setopt(pycurl.REDIR_PROTOCOLS, 0)
        handle.setopt(pycurl.FOLLOWLOCATION, 0)
        handle.setopt(pycurl.PATH_AS_IS, 1)  # a key may have /../ in it
        handle.setopt(pycurl.NOPROXY, "")  # `proxy_of` decides, by botocore's rules
        handle.setopt(_SUPPRESS_CONNECT_HEADERS, 1)
        handle.setopt(pycurl.CAINFO, self._config.ca_bundle)
        handle.setopt(pycurl.SSL_VERIFYPEER, 1)
        handle.setopt(pycurl.SSL_VERIFYHOST, 2)
        handle.setopt(pycurl.SSLVERSION, pycurl.SSLVERSION_TLSv1_2)
        handle.setopt(pycurl.CONNECTTIMEOUT_MS, round(self._config.connect_timeout_seconds * 1000))
        handle.setopt(pycurl.LOW_SPEED_TIME, round(self._config.read_timeout_seconds))
        handle.setopt(pycurl.MAXAGE_CONN, IDLE_SECONDS_MAX)
        handle.setopt(pycurl.BUFFERSIZE, READ_BYTES)
        return handle


def _ignore(_data: bytes) -> None:
    """Drop bytes that come for no transfer."""
