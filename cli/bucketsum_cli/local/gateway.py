"""Server process of the local emulator: ministack behind TLS.

Five things differ from ``python -m ministack``, without touching its private code:

- `sys.executable` is our worker program: ministack starts Lambda functions with it.
- Long responses are sent in pieces. ministack answers a GET with the whole object at once; a TLS
  connection would keep a second copy, and fails above 1 GB.
- ListObjectVersions encodes keys if ``encoding-type=url`` is set, as S3 does. ministack ignores the
  parameter there, and XML cannot have all characters that a key may have.
- A GET of a range of a version answers with the range. ministack answers with the whole version.
- A layer is extracted once (see `extraction`). ministack extracts it for every worker.
"""

from __future__ import annotations

import asyncio
import gc
import os
import re
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import parse_qs, quote
from xml.sax.saxutils import unescape
from zipfile import ZipFile

from bucketsum_cli.local.extraction import Extraction

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hypercorn.config import Config
    from hypercorn.typing import (
        ASGIFramework,
        ASGIReceiveCallable,
        ASGISendCallable,
        ASGISendEvent,
        Scope,
    )

OK: Final = 200
PARTIAL_CONTENT: Final = 206
PIECE_BYTES: Final = 1024 * 1024
"""Maximum size of a piece of a response."""

COLLECT_FROM_BYTES: Final = 16 * 1024 * 1024
"""Size of responses whose memory is collected at once.

A response that its client does not read to the end is left in a reference cycle. Python counts
objects, not bytes, so it would keep gigabytes of such responses.
"""

_ENCODED_ELEMENTS: Final = re.compile(
    r"<(Key|Prefix|Delimiter|KeyMarker|NextKeyMarker)>([^<]*)</\1>", re.DOTALL
)
_RANGE: Final = re.compile(rb"bytes=(\d+)-(\d*)")
_KEEP_ALIVE_SECONDS: Final = 75  # ministack's own


def in_pieces(app: ASGIFramework) -> ASGIFramework:
    """Wrap *app*: long responses are split, so that the server waits for the reader in between."""

    async def serve_in_pieces(
        scope: Scope, receive: ASGIReceiveCallable, send: ASGISendCallable
    ) -> None:
        is_large = False

        async def send_in_pieces(message: ASGISendEvent) -> None:
            nonlocal is_large
            if message["type"] != "http.response.body" or len(message["body"]) <= PIECE_BYTES:
                await send(message)
                return
            is_large = len(message["body"]) >= COLLECT_FROM_BYTES
            await _send_pieces(message, receive, send)

        await app(scope, receive, send_in_pieces)
        if is_large:
            gc.collect()

    return serve_in_pieces


async def _send_pieces(message: Any, receive: ASGIReceiveCallable, send: Any) -> None:  # noqa: ANN401 - plain dictionaries
    """Send the body of *message* in pieces, as long as the client is there."""
    body = memoryview(message["body"])
    disconnected = asyncio.create_task(_disconnection(receive))
    try:
        for start in range(0, len(body), PIECE_BYTES):
            await asyncio.sleep(0)
            if disconnected.done():  # hypercorn would keep every piece that it cannot send
                return
            piece = bytes(body[start : start + PIECE_BYTES])
            more = start + PIECE_BYTES < len(body) or message.get("more_body", False)
            await send({"type": "http.response.body", "body": piece, "more_body": more})
    finally:
        disconnected.cancel()


async def _disconnection(receive: ASGIReceiveCallable) -> None:
    """Wait until the client is gone."""
    while (await receive())["type"] != "http.disconnect":
        pass


def with_encoded_keys(app: ASGIFramework) -> ASGIFramework:
    """Wrap *app*: ListObjectVersions URL-encodes keys if the request asks for it."""

    async def serve(scope: Scope, receive: ASGIReceiveCallable, send: Any) -> None:  # noqa: ANN401 - plain dictionaries
        if not _wants_encoded_versions(scope):
            await app(scope, receive, send)
            return
        start: Any = None
        body = b""

        async def collect(message: Any) -> None:  # noqa: ANN401 - two types of ASGI events
            nonlocal start, body
            if message["type"] == "http.response.start":
                start = message
                return
            body += message["body"]
            if not message.get("more_body", False):
                content = encoded_listing(body) if start["status"] == OK else body
                headers = [(n, v) for n, v in start["headers"] if n.lower() != b"content-length"]
                headers.append((b"content-length", str(len(content)).encode()))
                await send({**start, "headers": headers})
                await send({**message, "body": content})

        await app(scope, receive, collect)

    return serve


def _wants_encoded_versions(scope: Scope) -> bool:
    if scope["type"] != "http":
        return False
    query = parse_qs(scope["query_string"].decode(), keep_blank_values=True)
    return "versions" in query and query.get("encoding-type") == ["url"]


def with_ranges_of_versions(app: ASGIFramework) -> ASGIFramework:
    """Wrap *app*: a GET of a range of a version answers with these bytes alone, as S3 does."""

    async def serve(scope: Scope, receive: ASGIReceiveCallable, send: Any) -> None:  # noqa: ANN401 - plain dictionaries
        requested = _range_of_version(scope)
        if requested is None:
            await app(scope, receive, send)
            return
        start: Any = None

        async def cut(message: Any) -> None:  # noqa: ANN401 - two types of ASGI events
            nonlocal start
            if message["type"] == "http.response.start":
                start = message
            elif start["status"] == OK and int(requested[1]) < len(message["body"]):
                head, body = range_response(start["headers"], message["body"], requested)
                await send({**start, "status": PARTIAL_CONTENT, "headers": head})
                await send({**message, "body": body})
            else:
                await send(start)
                await send(message)

        await app(scope, receive, cut)

    return serve


def _range_of_version(scope: Scope) -> re.Match[bytes] | None:
    if scope["type"] != "http" or scope["method"] != "GET":
        return None
    if b"versionId=" not in scope["query_string"]:
        return None
    return next((_RANGE.fullmatch(v) for n, v in scope["headers"] if n.lower() == b"range"), None)


def range_response(
    headers: Sequence[tuple[bytes, bytes]], body: bytes, requested: re.Match[bytes]
) -> tuple[list[tuple[bytes, bytes]], bytes | memoryview]:
    """The headers and the body of the response with the *requested* range of *body*."""
    first, last = int(requested[1]), min(int(requested[2] or len(body)), len(body) - 1)
    cut = memoryview(body)[first : last + 1]  # no second copy of gigabytes
    kept = [(name, value) for name, value in headers if name.lower() != b"content-length"]
    content_range = f"bytes {first}-{last}/{len(body)}".encode()
    return [
        *kept,
        (b"content-length", str(len(cut)).encode()),
        (b"content-range", content_range),
    ], cut if len(cut) > PIECE_BYTES else bytes(cut)


def encoded_listing(xml: bytes) -> bytes:
    """URL-encode the keys in the XML of a listing, and say so in it."""
    text = _ENCODED_ELEMENTS.sub(
        lambda match: f"<{match[1]}>{quote(unescape(match[2]), safe='/')}</{match[1]}>",
        xml.decode(),
    )
    return text.replace("<Name>", "<EncodingType>url</EncodingType><Name>", 1).encode()


def server_config(environ: dict[str, str]) -> Config:
    """Configure address and TLS from the variables that the launcher sets for ministack."""
    from hypercorn.config import Config  # noqa: PLC0415 - see `main`

    config = Config()
    config.bind = [f"{environ['BIND_HOST']}:{environ['GATEWAY_PORT']}"]
    config.certfile = environ["MINISTACK_SSL_CERT"]
    config.keyfile = environ["MINISTACK_SSL_KEY"]
    config.keep_alive_timeout = _KEEP_ALIVE_SECONDS
    config.graceful_timeout = 1
    return config


def extract_once(folder: Path) -> None:
    """Extract each archive into *folder* once; `ZipFile.extractall` then creates links to it."""
    extraction = Extraction(folder, ZipFile.extractall)

    def extract_all(archive: ZipFile, path: str) -> None:
        extraction.link(archive, Path(path))

    ZipFile.extractall = extract_all  # type: ignore[method-assign,assignment] # with fewer parameters


def main(worker_program: str) -> None:
    """Serve until a signal ends the process.

    Packages of `bucketsum[local]` are imported inside functions: the command imports this module,
    and must start without them.
    """
    from hypercorn.asyncio import serve  # noqa: PLC0415 - see `main`

    extract_once(Path(tempfile.gettempdir()) / "extracted")
    sys.executable = worker_program
    from ministack.app import app  # noqa: PLC0415 - it reads the environment on import

    asyncio.run(
        serve(
            in_pieces(with_ranges_of_versions(with_encoded_keys(app))),
            server_config(dict(os.environ)),
        )
    )


if __name__ == "__main__":
    main(sys.argv[1])
