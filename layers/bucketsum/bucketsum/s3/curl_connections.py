"""libcurl's connections to S3, and the transfers on them. The only file that knows pycurl."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

import pycurl

from bucketsum import __version__

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

READ_BYTES: Final = 32 * 1024
"""What libcurl reads at most at a time; it passes on pieces of 16 KiB, which are TLS's records.

Measured over TLS: 32 KiB to 512 KiB cost the same processor time, 16 KiB a fifth more. Over plain
HTTP a call of libcurl brings 11 times as much.
"""

HELD_BYTES: Final = 1024 * 1024
"""What an object that is read in one stream holds at most, next to libcurl's own buffers.

Measured: 0.6 MB over plain HTTP, 0.5 MB over TLS.
"""

_LONGEST_WAIT_SECONDS: Final = 1.0
_NOTHING_TO_WAIT_FOR_SECONDS: Final = 0.002


@dataclass(frozen=True, slots=True)
class TransportConfig:
    """How to reach S3.

    Attributes:
        ca_bundle: File of the certificate authorities that are trusted.
        connect_seconds: How long connecting may take, TLS included.
        silent_seconds: How long nothing may come before a connection counts as broken.
        proxy_of: An address → the proxy to reach it by; empty for none.
    """

    ca_bundle: str
    connect_seconds: float
    silent_seconds: float
    proxy_of: Callable[[str], str]


@dataclass(slots=True, eq=False)
class Transfer:
    """One request and what came of its answer so far.

    Attributes:
        pieces: Bytes of the body that came and were not taken yet.
        lines: Its headers as they came, a proxy's before them.
        waited_seconds: How long it was waited for since something came.
        ended: Whether nothing more will come.
        broken: Why it ended early, in libcurl's words; empty where it did not.
    """

    handle: pycurl.Curl
    pieces: list[bytes] = field(default_factory=list)
    lines: list[bytes] = field(default_factory=list)
    waited_seconds: float = 0.0
    ended: bool = False
    broken: str = ""

    @property
    def answered(self) -> bool:
        """Whether the headers are complete: they are once a byte follows them, or the end."""
        return bool(self.pieces) or self.ended


class Connections:
    """Transfers of one thread, and the connections that stay open for the next.

    Nothing happens between calls: what the kernel's buffers do not take, S3 does not send.
    """

    def __init__(self, access: TransportConfig) -> None:
        self._access = access
        self._multi = pycurl.CurlMulti()
        self._idle: list[pycurl.Curl] = []
        self._running: dict[pycurl.Curl, Transfer] = {}

    def start(self, url: str, headers: Iterable[str]) -> Transfer:
        """Begin to ask for *url*."""
        handle = self._idle.pop() if self._idle else self._new_handle()
        transfer = Transfer(handle)
        handle.setopt(pycurl.URL, url)
        handle.setopt(pycurl.PROXY, self._access.proxy_of(url))
        handle.setopt(pycurl.HTTPHEADER, list(headers))
        handle.setopt(pycurl.HEADERFUNCTION, transfer.lines.append)
        handle.setopt(pycurl.WRITEFUNCTION, transfer.pieces.append)
        self._running[handle] = transfer
        self._multi.add_handle(handle)
        return transfer

    def drop(self, transfer: Transfer) -> None:
        """Forget *transfer*. Its connection stays open if all of it came, and is closed if not."""
        handle = transfer.handle
        if self._running.get(handle) is transfer:  # one that ended has left its handle to another
            del self._running[handle]
            self._multi.remove_handle(handle)
            transfer.ended = True
            handle.setopt(pycurl.HEADERFUNCTION, _ignore)  # an idle handle is to hold nothing of
            handle.setopt(pycurl.WRITEFUNCTION, _ignore)  # what it brought
            self._idle.append(handle)

    def advance(self) -> None:
        """Let every transfer take what has come."""
        _, running = self._multi.perform()
        while running < len(self._running):
            _, done, failed = self._multi.info_read()
            for handle in done:
                self._end(handle, "")
            for handle, _, text in failed:
                self._end(handle, text or "the transfer failed")

    def wait_for(self, transfer: Transfer) -> None:
        """Wait until something comes for any transfer; one that is silent for too long is broken.

        Time in which nobody waits does not count: whoever takes the bytes may be slow.
        """
        if transfer.ended:
            return
        left = self._access.silent_seconds - transfer.waited_seconds
        if left <= 0:
            self._end(transfer.handle, f"nothing came for {self._access.silent_seconds:g} s")
            return
        started = time.monotonic()
        timer_ms = self._multi.timeout()
        longest = min(left, _LONGEST_WAIT_SECONDS, timer_ms / 1000 if timer_ms >= 0 else left)
        if self._multi.select(longest) < 0:  # there is nothing to wait for yet, such as a name
            time.sleep(_NOTHING_TO_WAIT_FOR_SECONDS)
        transfer.waited_seconds += time.monotonic() - started

    def drop_all(self) -> None:
        """Forget every transfer."""
        for transfer in list(self._running.values()):
            self.drop(transfer)

    def close(self) -> None:
        """Close all connections."""
        self.drop_all()
        for handle in self._idle:
            handle.close()
        self._idle.clear()
        self._multi.close()

    def _end(self, handle: pycurl.Curl, broken: str) -> None:
        transfer = self._running[handle]
        self.drop(transfer)
        transfer.broken = broken

    def _new_handle(self) -> pycurl.Curl:
        handle = pycurl.Curl()
        handle.setopt(pycurl.NOSIGNAL, 1)
        handle.setopt(pycurl.USERAGENT, f"bucketsum/{__version__}")  # as S3's access log names us
        handle.setopt(pycurl.HTTP_VERSION, pycurl.CURL_HTTP_VERSION_1_1)
        handle.setopt(pycurl.PROTOCOLS, pycurl.PROTO_HTTP | pycurl.PROTO_HTTPS)
        handle.setopt(pycurl.REDIR_PROTOCOLS, 0)
        handle.setopt(pycurl.FOLLOWLOCATION, 0)
        handle.setopt(pycurl.PATH_AS_IS, 1)  # a key may have /../ in it
        handle.setopt(pycurl.NOPROXY, "")  # `proxy_of` has decided, by botocore's rules
        handle.setopt(pycurl.CAINFO, self._access.ca_bundle)
        handle.setopt(pycurl.SSL_VERIFYPEER, 1)
        handle.setopt(pycurl.SSL_VERIFYHOST, 2)
        handle.setopt(pycurl.SSLVERSION, pycurl.SSLVERSION_TLSv1_2)
        handle.setopt(pycurl.CONNECTTIMEOUT_MS, round(self._access.connect_seconds * 1000))
        handle.setopt(pycurl.TCP_KEEPALIVE, 1)
        handle.setopt(pycurl.BUFFERSIZE, READ_BYTES)
        return handle


def _ignore(_data: bytes) -> None:
    """What comes when nobody asks."""
