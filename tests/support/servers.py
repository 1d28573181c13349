"""HTTP servers of tests on free ports of this machine."""

import os
import socket
import struct
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Final, TypeVar

_RESET_ON_CLOSE: Final = struct.pack("ii", 1, 0)  # SO_LINGER for 0 seconds: close sends RST


class Handler(BaseHTTPRequestHandler):
    """One connection, which can be cut."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def cut(self, *, gently: bool) -> None:
        """End the connection now: with FIN, or not *gently* with RST."""
        self.close_connection = True
        if gently:
            with suppress(OSError):
                self.connection.shutdown(socket.SHUT_RDWR)
            return
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET_ON_CLOSE)
        os.close(self.connection.detach())  # `close` would wait for the files made of the socket

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - as http.server names it
        """Say nothing: the tests look at what the server has recorded."""


class Server(ThreadingHTTPServer):
    """A thread for each connection; connections that end badly are what tests are about."""

    daemon_threads = True
    request_queue_size = 128  # beyond it, a connection begins a second later; the default is 5

    def __init__(self, handler: type[Handler]) -> None:
        super().__init__(("127.0.0.1", 0), handler)

    def handle_error(self, request: object, client_address: object) -> None:
        """Print nothing."""


@contextmanager
def reserved_port() -> Iterator[int]:
    """A port of this machine for a program that cannot choose its own; nobody else is given it.

    A bound socket holds it. On Linux, it does not keep the program from binding the port too.
    """
    with socket.socket() as holder:
        holder.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        holder.bind(("127.0.0.1", 0))
        port: int = holder.getsockname()[1]
        if sys.platform != "linux":
            holder.close()
        yield port


AnyServer = TypeVar("AnyServer", bound=Server)


@contextmanager
def serving(server: AnyServer) -> Iterator[AnyServer]:
    """Serve until the block ends."""
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
