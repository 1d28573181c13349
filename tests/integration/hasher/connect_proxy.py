"""A local proxy that opens tunnels, as company proxies do for HTTPS."""

from __future__ import annotations

import select
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from tests.support.servers import Handler, Server, serving

_PIECE_BYTES: Final = 64 * 1024


class _Handler(Handler):
    server: _Server

    def do_CONNECT(self) -> None:  # noqa: N802 - as http.server names it
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


class _Server(Server):
    def __init__(self, *, refuses: bool) -> None:
        super().__init__(_Handler)
        self.tunnels: list[str] = []
        self.refuses = refuses


@contextmanager
def connect_proxy(*, refuses: bool = False) -> Iterator[tuple[str, list[str]]]:
    """Serve on a free port; yields the address, and whereto tunnels were asked for."""
    with serving(_Server(refuses=refuses)) as server:
        yield f"http://127.0.0.1:{server.server_address[1]}", server.tunnels
