"""TCP proxy with the network of one execution environment of Lambda.

Run as ``python proxy.py LISTEN TO [BYTES_PER_S DELAY_S LINK_BYTES_PER_S]``. *TO* is ``host:port``;
*LISTEN* is the same, or the number of a listening socket's descriptor. It serves until its standard
input, a pipe, ends. It imports the standard library alone, since local workers start it.

A client's bytes are passed on *DELAY_S* later, so every response's first byte is that late,
handshakes included. The server's bytes go from socket to socket inside of the kernel
(``splice``), and the kernel's own pacing (``SO_MAX_PACING_RATE``) limits every connection to
*BYTES_PER_S*: no timers, and hardly any CPU time. All connections together have a token bucket for
each direction: `BURST_BYTES`, and then *LINK_BYTES_PER_S*. TLS passes through.
"""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import os
import socket
import sys
from typing import Final

CONNECTION_BYTES_PER_S: Final = 90_000_000
"""[A] S3 gives one connection about 85-90 MB/s."""

FIRST_BYTE_DELAY_S: Final = 0.03
"""S3's time to the first byte at its best; its documents say 100-200 ms."""

LINK_MBIT_PER_S: Final = 625
"""[A] Sustained rate of an execution environment's network, by default."""

BURST_BYTES: Final = 300_000_000
"""[T] arXiv 2501.07771: the burst allowance of an execution environment's network."""

_PACING: Final = getattr(socket, "SO_MAX_PACING_RATE", 47)  # Linux's number; Python names it late
_PIPE_BYTES: Final = 1 << 20
_REQUEST_BYTES: Final = 1 << 18
_QUEUE_LENGTH: Final = 128
_FLAGS: Final = os.SPLICE_F_MOVE | os.SPLICE_F_NONBLOCK


def limit_rate(client: socket.socket, bytes_per_s: int) -> None:
    """Let the kernel send to *client* with at most *bytes_per_s*."""
    client.setsockopt(socket.SOL_SOCKET, _PACING, bytes_per_s.to_bytes(8, sys.byteorder))


class TokenBucket:
    """A token bucket: `BURST_BYTES` pass at any speed, further bytes at *bytes_per_s*."""

    def __init__(self, bytes_per_s: float) -> None:
        self._seconds_per_byte = 1 / bytes_per_s
        self._paid_until = float("-inf")

    def delay(self, size_bytes: int, now: float) -> float:
        """Take *size_bytes*; returns the seconds to wait before the next bytes."""
        full = now - BURST_BYTES * self._seconds_per_byte
        self._paid_until = max(self._paid_until, full) + size_bytes * self._seconds_per_byte
        return max(0.0, self._paid_until - now)


class _Answers:
    """One direction of a connection: from the server's socket to the client's."""

    def __init__(self, source: socket.socket, target: socket.socket, link: TokenBucket) -> None:
        self._loop = asyncio.get_running_loop()
        self._link = link
        self._source, self._target = source.fileno(), target.fileno()
        self._out, self._in = os.pipe2(os.O_NONBLOCK)
        fcntl.fcntl(self._in, fcntl.F_SETPIPE_SZ, _PIPE_BYTES)
        self._held = 0
        self._due = 0.0
        self._pause: asyncio.TimerHandle | None = None
        self._ended = self._loop.create_future()

    async def pass_on(self) -> None:
        """Pass bytes on until the server or the client closes the connection."""
        self._loop.add_reader(self._source, self._move)
        try:
            await self._ended
        finally:
            if self._pause is not None:
                self._pause.cancel()
            self._loop.remove_reader(self._source)
            self._loop.remove_writer(self._target)
            os.close(self._out)
            os.close(self._in)

    def _move(self) -> None:
        try:
            self._fill()
            self._drain()
        except OSError:  # either side has reset its connection
            self._end()
        if self._due > self._loop.time():
            self._loop.remove_reader(self._source)
            self._resume()

    def _fill(self) -> None:
        with contextlib.suppress(BlockingIOError):
            got = os.splice(self._source, self._in, _PIPE_BYTES, flags=_FLAGS)
            self._held += got
            now = self._loop.time()
            self._due = now + self._link.delay(got, now)
            if not got:
                self._end()

    def _drain(self) -> None:
        try:
            while self._held:
                self._held -= os.splice(self._out, self._target, self._held, flags=_FLAGS)
        except BlockingIOError:  # the client's turn to make room: read no more until it has
            self._loop.remove_reader(self._source)
            self._loop.add_writer(self._target, self._make_room)

    def _make_room(self) -> None:
        self._loop.remove_writer(self._target)
        try:
            self._drain()
        except OSError:
            self._end()
        self._resume()

    def _resume(self) -> None:
        """Read again as soon as the link allows it."""
        if self._held or self._ended.done():
            return
        if self._due > self._loop.time():
            self._pause = self._loop.call_at(self._due, self._resume)
        else:
            self._loop.add_reader(self._source, self._move)

    def _end(self) -> None:
        if not self._ended.done():
            self._ended.set_result(None)


class Proxy:
    """Opens one connection to the server per client."""

    def __init__(
        self, to: tuple[str, int], bytes_per_s: int, delay_s: float, link_bytes_per_s: float
    ) -> None:
        self._to = to
        self._answers = TokenBucket(link_bytes_per_s)
        self._uploads = TokenBucket(link_bytes_per_s)
        self._bytes_per_s = bytes_per_s
        self._delay_s = delay_s
        self._tasks: set[asyncio.Task[None]] = set()

    async def serve(self, listener: socket.socket) -> None:
        """Accept connections until cancelled."""
        loop = asyncio.get_running_loop()
        while True:
            client, _ = await loop.sock_accept(listener)
            task = loop.create_task(self._connection(client))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def _connection(self, client: socket.socket) -> None:
        with client, socket.socket() as server:
            for end in (client, server):
                end.setblocking(False)
                end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                limit_rate(end, self._bytes_per_s)
            with contextlib.suppress(OSError):
                await asyncio.get_running_loop().sock_connect(server, self._to)
                requests = asyncio.ensure_future(self._requests(client, server))
                answers = asyncio.ensure_future(_Answers(server, client, self._answers).pass_on())
                _, left = await asyncio.wait(
                    (requests, answers), return_when=asyncio.FIRST_COMPLETED
                )
                for task in left:
                    task.cancel()
                await asyncio.wait((requests, answers))

    async def _requests(self, client: socket.socket, server: socket.socket) -> None:
        """Pass the client's bytes on in order, each *delay_s* after its arrival."""
        loop = asyncio.get_running_loop()
        waiting: asyncio.Queue[tuple[float, bytes]] = asyncio.Queue(_QUEUE_LENGTH)
        sending = asyncio.ensure_future(_send_when_due(waiting, server))
        with contextlib.suppress(OSError):
            while data := await loop.sock_recv(client, _REQUEST_BYTES):
                await waiting.put((loop.time() + self._delay_s, data))
                await asyncio.sleep(self._uploads.delay(len(data), loop.time()))
        sending.cancel()
        await asyncio.wait((sending,))


async def _send_when_due(
    waiting: asyncio.Queue[tuple[float, bytes]], server: socket.socket
) -> None:
    loop = asyncio.get_running_loop()
    while True:
        due, data = await waiting.get()
        await asyncio.sleep(due - loop.time())
        await loop.sock_sendall(server, data)


def _address(text: str) -> tuple[str, int]:
    host, _, port = text.rpartition(":")
    return host, int(port)


def _listener(text: str) -> socket.socket:
    if ":" in text:
        return socket.create_server(_address(text), backlog=256)
    return socket.socket(fileno=int(text))


async def _serve_until_input_ends(proxy: Proxy, listener: socket.socket) -> None:
    serving = asyncio.ensure_future(proxy.serve(listener))
    asyncio.get_running_loop().add_reader(sys.stdin, serving.cancel)
    with contextlib.suppress(asyncio.CancelledError):
        await serving


def main(
    listen: str,
    to: str,
    bytes_per_s: str = str(CONNECTION_BYTES_PER_S),
    delay_s: str = str(FIRST_BYTE_DELAY_S),
    link_bytes_per_s: str = str(LINK_MBIT_PER_S * 1e6 / 8),
) -> None:
    """Serve until standard input ends; by default with Lambda's network."""
    with _listener(listen) as listener:
        listener.setblocking(False)
        proxy = Proxy(_address(to), int(bytes_per_s), float(delay_s), float(link_bytes_per_s))
        asyncio.run(_serve_until_input_ends(proxy, listener))


if __name__ == "__main__":
    main(*sys.argv[1:])
