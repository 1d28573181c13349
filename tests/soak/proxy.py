"""A proxy between workers and the local emulator that injects faults into HTTP over TLS."""

import http.client
import socket
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from random import Random
from typing import Final
from urllib.parse import urlsplit

from tests.soak.faults import Faults
from tests.support.s3_faults import Fault
from tests.support.servers import Handler, Server, serving

from bucketsum_cli.emulator.emulator_state import LocalAws

_CONNECTION_HEADERS: Final = ("connection", "keep-alive", "transfer-encoding")
_SIGNED_FOR_S3: Final = ("/s3/aws4_request", "%2Fs3%2Faws4_request")
_PIECE_BYTES: Final = 64 * 1024
_IDLE_SECONDS: Final = 120


class FaultyProxy(Server):
    """Passes requests on to the emulator, with faults; TLS as the emulator's own.

    Attributes:
        endpoint: Its address.
        faults: Decides the faults.
        open: The clients' connections.
    """

    block_on_close = False
    request_queue_size = 128

    def __init__(self, aws: LocalAws, home: Path, faults: Faults) -> None:
        super().__init__(_Connection)
        self.endpoint = f"https://127.0.0.1:{self.server_address[1]}"
        self.faults = faults
        self.open: set[socket.socket] = set()
        self._lock = threading.Lock()
        self._to = urlsplit(aws.endpoint)
        self._client_tls = ssl.create_default_context(cafile=aws.ca_bundle)
        self._server_tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self._server_tls.load_cert_chain(home / "certificate.pem", home / "key.pem")

    def accepted(self, raw: socket.socket) -> ssl.SSLSocket:
        """The connection *raw* after its handshake."""
        connection = self._server_tls.wrap_socket(raw, server_side=True)
        with self._lock:
            self.open.add(connection)
        return connection

    def closed(self, connection: socket.socket) -> None:
        """Forget *connection*."""
        with self._lock:
            self.open.discard(connection)

    def upstream(self) -> http.client.HTTPSConnection:
        """A new connection to the emulator."""
        host, port = self._to.hostname or "", self._to.port
        return http.client.HTTPSConnection(
            host, port, context=self._client_tls, timeout=_IDLE_SECONDS
        )

    def cut(self, random: Random) -> bool:
        """Cut one open connection, whatever it is doing; returns whether there was one."""
        with self._lock:
            if not self.open:
                return False
            connection = random.choice(sorted(self.open, key=id))
        with suppress(OSError):
            socket.socket.shutdown(connection, socket.SHUT_RDWR)  # below TLS
            return True
        return False


class _Connection(Handler):
    """One connection of a worker, with one of its own to the emulator."""

    timeout = _IDLE_SECONDS
    server: FaultyProxy

    def setup(self) -> None:
        self.request = self.server.accepted(self.request)
        self._upstream = self.server.upstream()
        super().setup()

    def finish(self) -> None:
        self.server.closed(self.request)
        self._upstream.close()
        with suppress(OSError):
            super().finish()
        self.request.close()

    def do_GET(self) -> None:  # noqa: N802 - as http.server names it
        """Pass the request on, and the response back, but for the fault that is due."""
        body = self.rfile.read(int(self.headers.get("Content-Length", "0")))
        signature = f"{self.headers.get('Authorization', '')} {self.path}"
        of_s3 = any(mark in signature for mark in _SIGNED_FOR_S3)
        fault = self.server.faults.next(self.path, of_s3=of_s3)
        if fault.hang_up:
            self.cut(gently=False)
        elif fault.refuse:
            self._refuse(*fault.refuse)
        else:
            self._answer(self._response(body), fault)

    do_HEAD = do_POST = do_PUT = do_DELETE = do_GET  # noqa: N815 - as http.server names them

    def _refuse(self, status: int, code: str, text: str) -> None:
        document = f"<Error><Code>{code}</Code><Message>{text}</Message></Error>".encode()
        self.send_response_only(status)
        self.send_header("Content-Type", "application/xml")
        self.send_header("Content-Length", str(len(document)))
        self.end_headers()
        self.wfile.write(document)

    def _response(self, body: bytes) -> http.client.HTTPResponse:
        """The emulator's response to this request."""
        self._upstream.putrequest(
            self.command, self.path, skip_host=True, skip_accept_encoding=True
        )
        for name, value in self.headers.items():
            self._upstream.putheader(name, value)
        self._upstream.endheaders(body or None)
        return self._upstream.getresponse()

    def _answer(self, response: http.client.HTTPResponse, fault: Fault) -> None:
        whole = response.read() if response.length is None else None
        self.send_response_only(response.status, response.reason)
        for name, value in response.getheaders():
            if name.lower() not in _CONNECTION_HEADERS:
                self.send_header(name, value)
        if whole is not None:
            self.send_header("Content-Length", str(len(whole)))
        if fault.cut_after == 0:
            self.cut(gently=fault.gently)
            return
        self.end_headers()
        sent = 0
        fault.pause(sent)
        while piece := whole if whole and not sent else response.read(_PIECE_BYTES):
            if fault.cut_after is not None and sent + len(piece) > fault.cut_after:
                self.wfile.write(piece[: fault.cut_after - sent])
                self.cut(gently=fault.gently)
                return
            self.wfile.write(piece)
            sent += len(piece)

    def cut(self, *, gently: bool) -> None:
        """End the connection now."""
        if not gently:
            self.server.closed(self.connection)
        super().cut(gently=gently)


@contextmanager
def faulty_proxy(aws: LocalAws, home: Path, faults: Faults) -> Iterator[FaultyProxy]:
    """Serve on a free port of this machine."""
    with serving(FaultyProxy(aws, home, faults)) as proxy:
        try:
            yield proxy
        finally:
            faults.end()
