"""Server process of the local emulator: ministack behind TLS.

Five things differ from ``python -m ministack``, without touching its private code:

- `sys.executable` is our worker program: ministack starts Lambda functions with it.
- Long responses are sent in pieces. ministack answers a GET with the whole object at once; a TLS
  connection would keep a second copy, and fails above 1 GB.
- ListObjectVersions encodes keys if ``encoding-type=url`` is set, as S3 does. ministack ignores the
  parameter there, and XML cannot have all characters that a key may have.
- A GET of a range of a version answers with the range. ministack answers with the whole version.
- An archive with a function or a layer is extracted once, and only the top-level names in it are
  listed. ministack extracts it again for every worker, after a look at the path of each entry. The
  layer has more than a thousand files, so that would take most of the emulator's CPU time in a
  sweep.
"""

from __future__ import annotations

import asyncio
import gc
import hashlib
import os
import re
import shutil
import sys
import tempfile
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import parse_qs, quote
from xml.sax.saxutils import unescape
from zipfile import ZipFile

if TYPE_CHECKING:
    from typing import TypeAlias

    from hypercorn.config import Config
    from hypercorn.typing import (
        ASGIFramework,
        ASGIReceiveCallable,
        ASGISendCallable,
        ASGISendEvent,
        Scope,
    )

    _Changed: TypeAlias = tuple[bytes | memoryview, Sequence[tuple[bytes, bytes]]]
    """The new body, and additional headers if it is a part of the old one."""
    _Change: TypeAlias = Callable[[bytes], _Changed]

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
    while (await receive())["type"] != "http.disconnect":
        pass


def as_of_s3(app: ASGIFramework) -> ASGIFramework:
    """Wrap *app*: the successful responses that concern versions become those of S3."""

    async def serve(scope: Scope, receive: ASGIReceiveCallable, send: Any) -> None:  # noqa: ANN401 - plain dictionaries
        change = _change_for(scope)
        if change is None:
            await app(scope, receive, send)
            return
        start: Any = None
        body = b""

        async def collect(message: Any) -> None:  # noqa: ANN401 - two types of ASGI events
            nonlocal start, body
            if message["type"] == "http.response.start":
                start = message
                return
            body = body + message["body"] if body else message["body"]  # no copy of gigabytes
            if message.get("more_body", False):
                return
            content, headers = change(body) if start["status"] == OK else (body, ())
            kept = [(n, v) for n, v in start["headers"] if n.lower() != b"content-length"]
            length = (b"content-length", str(len(content)).encode())
            status = PARTIAL_CONTENT if headers else start["status"]
            await send({**start, "status": status, "headers": [*kept, length, *headers]})
            await send({**message, "body": content})

        await app(scope, receive, collect)

    return serve


def _change_for(scope: Scope) -> _Change | None:
    if scope["type"] != "http":
        return None
    query = parse_qs(scope["query_string"].decode(), keep_blank_values=True)
    if "versions" in query and query.get("encoding-type") == ["url"]:
        return lambda xml: (_encoded_listing(xml), ())
    if "versionId" not in query or scope["method"] != "GET":
        return None
    ranges = (_RANGE.fullmatch(v) for n, v in scope["headers"] if n.lower() == b"range")
    requested = next(ranges, None)
    return partial(_cut, requested) if requested else None


def _cut(requested: re.Match[bytes], body: bytes) -> _Changed:
    """The *requested* range of *body*; all of it if the range starts after its end."""
    first, last = int(requested[1]), min(int(requested[2] or len(body)), len(body) - 1)
    if first >= len(body):
        return body, ()
    cut = memoryview(body)[first : last + 1]  # no second copy of gigabytes
    content_range = (b"content-range", f"bytes {first}-{last}/{len(body)}".encode())
    return cut if len(cut) > PIECE_BYTES else bytes(cut), (content_range,)


def _encoded_listing(xml: bytes) -> bytes:
    """URL-encode the keys in the XML of a listing, and set its field EncodingType."""
    text = _ENCODED_ELEMENTS.sub(
        lambda match: f"<{match[1]}>{quote(unescape(match[2]), safe='/')}</{match[1]}>",
        xml.decode(),
    )
    return text.replace("<Name>", "<EncodingType>url</EncodingType><Name>", 1).encode()


def extract_once(folder: Path) -> None:
    """Let `ZipFile.extractall` extract each archive once, into *folder*, and create links to it.

    The links are to the top-level entries. Workers only read there, as they do on Lambda. After an
    extraction that failed, nothing is kept.
    """
    extract_all, names_in, lock = ZipFile.extractall, ZipFile.namelist, Lock()

    def extracted(archive: ZipFile) -> Path:
        content = [(entry.filename, entry.CRC, entry.file_size) for entry in archive.infolist()]
        target = folder / hashlib.sha256(repr(content).encode()).hexdigest()
        if not target.exists():
            incomplete = target.with_suffix(".incomplete")
            shutil.rmtree(incomplete, ignore_errors=True)
            extract_all(archive, incomplete, names_in(archive))
            incomplete.rename(target)
        return target

    def link_all(archive: ZipFile, path: str) -> None:
        with lock:
            source = extracted(archive)
        for entry in source.iterdir():
            Path(path, entry.name).symlink_to(entry)

    def top_level(archive: ZipFile) -> list[str]:
        return list({name.partition("/")[0] for name in names_in(archive)})

    ZipFile.namelist = top_level  # type: ignore[method-assign,assignment] # as below
    ZipFile.extractall = link_all  # type: ignore[method-assign,assignment] # with fewer parameters


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


def main(worker_program: str) -> None:
    """Serve until a signal ends the process.

    Packages of `bucketsum[local]` are imported inside functions: the command imports this module,
    and must start without them.
    """
    from hypercorn.asyncio import serve  # noqa: PLC0415 - see `main`

    extract_once(Path(tempfile.gettempdir()) / "extracted")
    sys.executable = worker_program
    from ministack.app import app  # noqa: PLC0415 - it reads the environment on import

    asyncio.run(serve(in_pieces(as_of_s3(app)), server_config(dict(os.environ))))


if __name__ == "__main__":
    main(sys.argv[1])
