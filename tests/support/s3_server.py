"""A server that speaks as much S3 as GetObject needs, and misbehaves on demand.

moto is too well-behaved: it never resets a connection, sends half a body or lies about a range.
Every fault here is asked for by a test, one `Fault` for each coming request.
"""

from __future__ import annotations

import os
import re
import ssl
import sys
import threading
from collections import defaultdict, deque
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import Any, Final
from urllib.parse import parse_qs, unquote, urlsplit

from tests.support.s3_faults import HEALTHY, Fault, ReceivedRequest, StoredObject
from tests.support.servers import Handler, Server, serving

_RANGE: Final = re.compile(r"bytes=(\d+)-(\d*)")
_TIME_LIMIT_SECONDS: Final = 60  # a stalled response ends then at the latest


class HostileS3:
    """The server's objects, its coming faults, and the requests that it received.

    Attributes:
        endpoint_url: Where it listens.
        requests: Every request so far.
        connections: How many connections were opened so far.
        always: The fault of GETs for which none was scripted.
        heads: The fault of HEADs.
        stall: Given as a fault's ``pause``, holds the response until `resume` or the end.
    """

    def __init__(self, endpoint_url: str) -> None:
        self.endpoint_url = endpoint_url
        self.requests: list[ReceivedRequest] = []
        self.connections = 0
        self.always = HEALTHY
        self.heads = HEALTHY
        self._faults: deque[Fault] = deque()
        self._faults_of: defaultdict[str, deque[Fault]] = defaultdict(deque)
        self._faults_from: defaultdict[int, deque[Fault]] = defaultdict(deque)
        self._versions: dict[str, list[StoredObject]] = {}
        self._go_on = threading.Event()

    def put(
        self,
        path: str,
        body: bytes,
        version_id: str | None = None,
        content_encoding: str | None = None,
        checksum: Mapping[str, str] | None = None,
        parts: Sequence[str] = (),
    ) -> StoredObject:
        """Store *body* at ``bucket/key``, over what was there unless it has a version."""
        stored = StoredObject(body, version_id, False, content_encoding, checksum or {}, parts)
        older = self._versions.get(path, []) if version_id else []
        self._versions[path] = [*older, stored]
        return stored

    def delete(self, path: str, marker_id: str | None = None) -> None:
        """Delete for good, or where *marker_id* is given put a delete marker on top."""
        if marker_id:
            self._versions[path].append(StoredObject(b"", marker_id, delete_marker=True))
        else:
            del self._versions[path]

    def script(self, *faults: Fault) -> None:
        """Give each of the coming requests its fault, in order."""
        self._faults.extend(faults)

    def script_of(self, path: str, *faults: Fault) -> None:
        """The same for requests of ``bucket/key``, where several objects are read at a time."""
        self._faults_of[path].extend(faults)

    def script_from(self, first_byte: int, *faults: Fault) -> None:
        """The same for requests from *first_byte* on, where several are sent at a time."""
        self._faults_from[first_byte].extend(faults)

    def forget_script(self) -> None:
        """Drop the faults whose requests never came."""
        self._faults.clear()

    def stall(self, _sent: int) -> None:
        """Hold a response until `resume`."""
        self._go_on.wait(_TIME_LIMIT_SECONDS)

    def resume(self) -> None:
        """Let every stalled response continue."""
        self._go_on.set()

    def next_fault(self, request: ReceivedRequest) -> Fault:
        """The fault of the request that is being answered."""
        if request.method == "HEAD":
            return self.heads
        wanted = _RANGE.fullmatch(request.headers.get("range", ""))
        own = self._faults_from[int(wanted[1]) if wanted else 0] or self._faults_of[request.path]
        if own:
            return own.popleft()
        return self._faults.popleft() if self._faults else self.always

    def find(self, request: ReceivedRequest) -> StoredObject | None:
        """The requested version, or the newest."""
        versions = self._versions.get(request.path, [])
        if request.version_id is None:
            return versions[-1] if versions else None
        matching = (kept for kept in versions if (kept.version_id or "null") == request.version_id)
        return next(matching, None)


class _Handler(Handler):
    timeout = _TIME_LIMIT_SECONDS
    server: _Server

    def setup(self) -> None:
        self.server.s3.connections += 1
        super().setup()

    def do_GET(self) -> None:  # noqa: N802 - as http.server names it
        """Answer as S3 does, but for the fault that is due."""
        url = urlsplit(self.path)
        version = parse_qs(url.query).get("versionId", [None])[0]
        headers = {name.lower(): value for name, value in self.headers.items()}
        path = unquote(url.path).removeprefix("/")
        request = ReceivedRequest(path, version, headers, url.query, self.command)
        self.server.s3.requests.append(request)
        fault = self.server.s3.next_fault(request)
        if fault.hang_up:
            self.cut(gently=False)
            return
        stored = self.server.s3.find(request)
        refusal = fault.refuse or _refusal(request, stored, fault)
        if refusal:
            self._refuse(*refusal, fault)
        elif stored and "attributes" in url.query.split("&"):
            self._send_attributes(stored, fault)
        elif stored:
            self._send_object(request, stored, fault)

    do_HEAD = do_GET  # noqa: N815 - as http.server names it

    def _refuse(self, status: int, code: str, text: str, fault: Fault) -> None:
        body = f"<Error><Code>{code}</Code><Message>{text}</Message></Error>" if code else ""
        headers = {"Content-Type": "application/xml", "Location": "/elsewhere"}
        self._send(status, headers, memoryview(body.encode()), fault)

    def _send_attributes(self, stored: StoredObject, fault: Fault) -> None:
        parts = "".join(f"<Part>{part}</Part>" for part in stored.parts)
        body = (
            "<GetObjectAttributesResponse>"
            f"<ETag>{stored.etag}</ETag><ObjectParts>{parts}</ObjectParts>"
            "</GetObjectAttributesResponse>"
        )
        self._send(200, {"Content-Type": "application/xml"}, memoryview(body.encode()), fault)

    def _send_object(self, request: ReceivedRequest, stored: StoredObject, fault: Fault) -> None:
        body = memoryview(stored.body)  # slices of it copy nothing: a test measures memory
        size = len(body)
        headers = {"ETag": f'"{stored.etag}"', "Accept-Ranges": "bytes"}
        if stored.version_id:
            headers["x-amz-version-id"] = stored.version_id
        if stored.content_encoding:
            headers["Content-Encoding"] = stored.content_encoding
        asks_checksum = request.headers.get("x-amz-checksum-mode") == "ENABLED"
        if asks_checksum and "range" not in request.headers:
            headers |= stored.checksum
        wanted = _RANGE.fullmatch(request.headers.get("range", ""))
        if not wanted or fault.ignore_range:
            self._send(200, headers, body, fault)
            return
        first, last = int(wanted[1]), min(int(wanted[2] or size), size - 1)
        headers["Content-Range"] = f"bytes {first}-{last}/{size}"
        self._send(206, headers, body[first : last + 1], fault)

    def _send(
        self, status: int, headers: Mapping[str, str], body: memoryview, fault: Fault
    ) -> None:
        if fault.body is not bytes:
            body = memoryview(fault.body(bytes(body)))
        self.send_response(status)
        sizes = {"Content-Length": str(len(body))}
        for name, value in {**headers, **sizes, **fault.headers}.items():
            if value:
                self.send_header(name, value)
        self.end_headers()
        if self.command == "HEAD":
            return
        end = len(body) if fault.cut_after is None else min(fault.cut_after, len(body))
        with suppress(OSError):  # the client may have gone: that is its right
            self._send_pieces(body[:end], fault)
        fault.afterwards()
        if fault.cut_after is not None:
            self.cut(gently=fault.gently)

    def _send_pieces(self, body: memoryview, fault: Fault) -> None:
        for start in range(0, len(body), fault.piece_bytes):
            fault.pause(start)
            if fault.garble_after is not None and start >= fault.garble_after:
                os.write(self.connection.fileno(), b"\x17\x03\x03\x00\x40" + bytes(64))
                self.cut(gently=True)
                return
            self.wfile.write(body[start : start + fault.piece_bytes])


def _refusal(
    request: ReceivedRequest, stored: StoredObject | None, fault: Fault
) -> tuple[int, str, str] | None:
    """S3's own refusal of the request, if it would refuse."""
    if stored is None:
        code = "NoSuchVersion" if request.version_id else "NoSuchKey"
        return 404, code, "What was asked for does not exist."
    if stored.delete_marker and request.version_id:
        return 405, "MethodNotAllowed", "The specified method is not allowed on this resource."
    if stored.delete_marker:
        return 404, "NoSuchKey", "The specified key does not exist."
    wanted_etag = request.headers.get("if-match", f'"{stored.etag}"')
    if wanted_etag != f'"{stored.etag}"' and not fault.ignore_conditions:
        return 412, "PreconditionFailed", "At least one of the preconditions did not hold."
    wanted = _RANGE.fullmatch(request.headers.get("range", ""))
    if wanted and int(wanted[1]) >= len(stored.body):
        return 416, "InvalidRange", "The requested range is not satisfiable."
    return None


class _Server(Server):
    def __init__(self, context: ssl.SSLContext | None) -> None:
        super().__init__(_Handler)
        if context:
            self.socket = context.wrap_socket(self.socket, server_side=True)
        scheme = "https" if context else "http"
        self.s3 = HostileS3(f"{scheme}://127.0.0.1:{self.server_address[1]}")

    def process_request_thread(self, *connection: Any) -> None:  # noqa: ANN401 - as of socketserver
        """Serve a connection, without coverage's tracer: no thread of ours runs the product."""
        sys.settrace(None)
        super().process_request_thread(*connection)


@contextmanager
def hostile_s3(context: ssl.SSLContext | None = None) -> Iterator[HostileS3]:
    """Serve on a free port of this machine, with TLS where *context* is given."""
    with serving(_Server(context)) as server:
        try:
            yield server.s3
        finally:
            server.s3.resume()
