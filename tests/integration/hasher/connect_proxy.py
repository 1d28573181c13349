"""A local proxy that opens tunnels, as company proxies do for HTTPS."""

from __future__ import annotations

import select
import socket
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator

_PIECE_BYTES: Final = 64 * 1024


class _Handler(BaseHTTPRequestHandler):
    server: _Server

    def do_CONNECT(self) -> None:
        """Open a tunnel, unless this proxy refuses."""
        self.server.tunnels.append(self.path)
        if self.server.refuses:
            self.send_error(407, "Proxy Authentication Required")
            return
        host, _, port = self.path.rpartition(":")
        with socket.create_connection((host, int(port))) as far:
            self.send_response(200, "Connection established")
            self.end_headers()
            self._pass_on(far)
        self.close_connection = True

    def _pass_on(self, far: socket.socket) -> None:
        other = {far: self.connection, self.connection: far}
        while True:
            ready, _, _ = select.select(list(other), [], [])
            for sock in ready:
                try:
                    piece = sock.recv(_PIECE_BYTES)
                    other[sock].sendall(piece)
                except OSError:
                    return
                if not piece:
                    return

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - as http.server names it
        """Say nothing: the tests look at the tunnels."""


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, *, refuses: bool) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.tunnels: list[str] = []
        self.refuses = refuses


@contextmanager
def connect_proxy(*, refuses: bool = False) -> Iterator[tuple[str, list[str]]]:
    """Serve on a free port; yields the address, and whereto tunnels were asked for."""
    server = _Server(refuses=refuses)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}", server.tunnels
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
