"""TCP proxy with S3's speed: a rate limit per connection, and late first bytes.

Run as ``python -m bench.sandbox.proxy LISTEN TO BYTES_PER_S DELAY_S``, each address ``host:port``.

A client's bytes are passed on *DELAY_S* later, so every response's first byte is that late,
handshakes included. The server's bytes go from socket to socket inside of the kernel
(``splice``), and the kernel's own pacing (``SO_MAX_PACING_RATE``) limits every connection to
*BYTES_PER_S*: no timers, and hardly any CPU time. TLS passes through.
"""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import os
import socket
import sys
from typing import Final

_PACING: Final = getattr(socket, "SO_MAX_PACING_RATE", 47)  # Linux's number; Python names it late
_PIPE_BYTES: Final = 1 << 20
_REQUEST_BYTES: Final = 1 << 18
_FLAGS: Final = os.SPLICE_F_MOVE | os.SPLICE_F_NONBLOCK


def limit_rate(client: socket.socket, bytes_per_s: int) -> None:
    """Let the kernel send to *client* with at most *bytes_per_s*."""
    client.setsockopt(socket.SOL_SOCKET, _PACING, bytes_per_s.to_bytes(8, sys.byteorder))


class _Answers:
    """One direction of a connection: from the server's socket to the client's."""

    def __init__(self, source: socket.socket, target: socket.socket) -> None:
        self._loop = asyncio.get_running_loop()
        self._source, self._target = source.fileno(), target.fileno()
        self._out, self._in = os.pipe2(os.O_NONBLOCK)
        fcntl.fcntl(self._in, fcntl.F_SETPIPE_SZ, _PIPE_BYTES)
        self._held = 0
        self._ended = self._loop.create_future()

    async def pass_on(self) -> None:
        """Pass bytes on until the server or the client closes the connection."""
        self._loop.add_reader(self._source, self._move)
        try:
            await self._ended
        finally:
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

    def _fill(self) -> None:
        with contextlib.suppress(BlockingIOError):
            got = os.splice(self._source, self._in, _PIPE_BYTES, flags=_FLAGS)
            self._held += got
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
        if not self._held and not self._ended.done():
            self._loop.add_reader(self._source, self._move)

    def _end(self) -> None:
        if not self._ended.done():
            self._ended.set_result(None)


class Proxy:
    """Opens one connection to the server per client."""

    def __init__(self, to: tuple[str, int], bytes_per_s: int, delay_s: float) -> None:
        self._to = to
        self._bytes_per_s = bytes_per_s
        self._delay_s = delay_s
        self._tasks: set[asyncio.Task[None]] = set()

    async def serve(self, listener: socket.socket) -> None:
        """Accept connections until killed."""
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
            limit_rate(client, self._bytes_per_s)
            with contextlib.suppress(OSError):
                await asyncio.get_running_loop().sock_connect(server, self._to)
                requests = asyncio.ensure_future(self._requests(client, server))
                answers = asyncio.ensure_future(_Answers(server, client).pass_on())
                _, left = await asyncio.wait(
                    (requests, answers), return_when=asyncio.FIRST_COMPLETED
                )
                for task in left:
                    task.cancel()
                await asyncio.wait((requests, answers))

    async def _requests(self, client: socket.socket, server: socket.socket) -> None:
        """Pass the client's bytes on in order, each *delay_s* after its arrival."""
        loop = asyncio.get_running_loop()
        waiting: asyncio.Queue[tuple[float, bytes]] = asyncio.Queue()
        sending = asyncio.ensure_future(_send_when_due(waiting, server))
        with contextlib.suppress(OSError):
            while data := await loop.sock_recv(client, _REQUEST_BYTES):
                waiting.put_nowait((loop.time() + self._delay_s, data))
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


def main(listen: str, to: str, bytes_per_s: str, delay_s: str) -> None:
    """Serve until killed."""
    with socket.create_server(_address(listen), backlog=256) as listener:
        listener.setblocking(False)
        proxy = Proxy(_address(to), int(bytes_per_s), float(delay_s))
        asyncio.run(proxy.serve(listener))


if __name__ == "__main__":
    main(*sys.argv[1:])
