"""The gateway splits long responses, encodes keys in listings, and cuts ranges of versions."""

import asyncio
import gc
import sys
import weakref
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any
from urllib.parse import unquote
from xml.etree.ElementTree import Element, SubElement, fromstring, tostring

import pytest
from hypercorn.typing import ASGIReceiveCallable, ASGISendCallable, Scope
from hypothesis import given
from hypothesis import strategies as st

from bucketsum_cli.emulator import gateway
from bucketsum_cli.emulator.gateway import (
    COLLECT_FROM_BYTES,
    PIECE_BYTES,
    as_of_s3,
    in_pieces,
    server_config,
)


def sent_by_an_app_that_sends(
    *messages: dict[str, Any],
    wrap: Callable[[Any], object] = in_pieces,
    scope: dict[str, Any] | None = None,
    gone_after: int = sys.maxsize,
) -> list[dict[str, Any]]:
    """The messages that the server receives when an application in *wrap* sends *messages*.

    The client disconnects after *gone_after* messages.
    """
    sent: list[dict[str, Any]] = []
    gone = asyncio.Event()

    async def app(_scope: Scope, _receive: ASGIReceiveCallable, send: ASGISendCallable) -> None:
        for message in messages:
            await send(message)  # type: ignore[arg-type] # plain dictionaries, as ministack's

    async def send(message: dict[str, Any]) -> None:
        sent.append(message)
        if len(sent) == gone_after:
            gone.set()

    async def receive() -> dict[str, str]:
        await gone.wait()
        return {"type": "http.disconnect"}

    wrapped: Any = wrap(app)
    asyncio.run(wrapped(scope, receive, send))
    return sent


def body(content: bytes, *, more: bool = False) -> dict[str, Any]:
    """An ASGI message with a piece of an answer."""
    return {"type": "http.response.body", "body": content, "more_body": more}


@pytest.mark.parametrize("size", [0, 1, PIECE_BYTES, PIECE_BYTES + 1, 3 * PIECE_BYTES])
@pytest.mark.parametrize("more", [True, False])
def test_pieces_add_up_to_the_answer(size: int, *, more: bool) -> None:
    """A response of any length arrives whole and ends with its last message."""
    content = bytes(range(256)) * (size // 256 + 1)

    sent = sent_by_an_app_that_sends(body(content[:size], more=more))

    assert b"".join(message["body"] for message in sent) == content[:size]
    assert [message["more_body"] for message in sent] == [True] * (len(sent) - 1) + [more]
    assert max(len(message["body"]) for message in sent) <= PIECE_BYTES


def test_nothing_more_is_sent_to_a_client_that_is_gone() -> None:
    """The server would keep every piece that it cannot send, gigabytes for a large object."""
    sent = sent_by_an_app_that_sends(body(bytes(100 * PIECE_BYTES)), gone_after=3)

    assert len(sent) <= 4


def test_a_failed_connection_leaves_no_task() -> None:
    """The task that waits for the client's end does not outlive the response."""

    async def serve() -> int:
        async def app(_scope: Scope, _receive: ASGIReceiveCallable, send: ASGISendCallable) -> None:
            await send(body(bytes(3 * PIECE_BYTES)))  # type: ignore[arg-type] # plain dictionaries

        async def send(_message: dict[str, Any]) -> None:
            raise BrokenPipeError

        wrapped: Any = in_pieces(app)
        with pytest.raises(BrokenPipeError):
            await wrapped(None, asyncio.Event().wait, send)  # the client stays
        await asyncio.sleep(0)
        return len(asyncio.all_tasks())

    assert asyncio.run(serve()) == 1


class _Mark:
    """An object that can be referred to weakly."""


def test_memory_of_a_large_response_is_freed_at_once() -> None:
    """A response in a reference cycle, as an aborted one is, does not wait for Python's turn."""
    gc.disable()
    try:
        for size, is_freed in ((COLLECT_FROM_BYTES - 1, False), (COLLECT_FROM_BYTES, True)):
            cycle: list[Any] = [_Mark()]
            mark = weakref.ref(cycle[0])
            cycle.append(cycle)
            del cycle
            sent_by_an_app_that_sends(body(bytes(size)))
            assert (mark() is None) == is_freed
    finally:
        gc.enable()


def test_what_is_no_body_passes_unchanged() -> None:
    """Status, headers and the server's own messages are nobody else's business."""
    start = {"type": "http.response.start", "status": 200, "headers": []}

    assert sent_by_an_app_that_sends(start) == [start]


def listed_by_an_app(
    listing: bytes, query: str, status: int = 200
) -> tuple[bytes, dict[bytes, bytes]]:
    """Body and headers that a client gets of a listing that the app sends in two pieces."""
    length = [(b"Content-Length", str(len(listing)).encode())]
    start, *pieces = sent_by_an_app_that_sends(
        {"type": "http.response.start", "status": status, "headers": length},
        body(listing[:9], more=True),
        {"type": "http.response.body", "body": listing[9:]},
        wrap=as_of_s3,
        scope={"type": "http", "query_string": query.encode()},
    )
    headers = {name.lower(): value for name, value in start["headers"]}
    return b"".join(piece["body"] for piece in pieces), headers


@given(keys=st.lists(st.text(st.characters(exclude_categories=["Cs"]), min_size=1), max_size=5))
def test_any_key_survives_a_listing_of_versions(keys: list[str]) -> None:
    """Ministack writes keys as they are, and XML 1.0 has no control characters, nor CR."""
    root = Element("ListVersionsResult")
    SubElement(root, "Name").text = "inbox"
    for key in keys:
        SubElement(SubElement(root, "Version"), "Key").text = key
    raw = tostring(root, encoding="unicode").encode()

    xml, headers = listed_by_an_app(raw, "versions&prefix=&encoding-type=url")

    listing = fromstring(xml)  # noqa: S314 - made above
    assert headers[b"content-length"] == str(len(xml)).encode()
    assert listing.findtext("EncodingType") == "url"
    assert [unquote(key.text or "") for key in listing.iter("Key")] == keys


@pytest.mark.parametrize(
    ("query", "status"),
    [
        ("versions", 200),
        ("list-type=2&encoding-type=url", 200),
        ("", 200),
        ("versions&encoding-type=url", 404),
    ],
)
def test_other_responses_stay(query: str, status: int) -> None:
    """Only what asks for encoded keys gets them; an error of a listing is not a listing."""
    raw = b"<R><Name>inbox</Name><Key>a b</Key></R>"
    assert listed_by_an_app(raw, query, status)[0] == raw


def got_of_an_app(stored: bytes, query: bytes, byte_range: str, status: int = 200) -> list[Any]:
    """Status, Content-Range, Content-Length and body that a client gets of a GET of a range."""
    sent_headers = [(b"Content-Length", str(len(stored)).encode()), (b"ETag", b'"e"')]
    start, *pieces = sent_by_an_app_that_sends(
        {"type": "http.response.start", "status": status, "headers": sent_headers},
        body(stored),
        wrap=lambda app: in_pieces(as_of_s3(app)),
        scope={
            "type": "http",
            "method": "GET",
            "query_string": query,
            "headers": [(b"range", byte_range.encode())],
        },
    )
    headers = {name.lower(): value.decode() for name, value in start["headers"]}
    content = b"".join(bytes(piece["body"]) for piece in pieces)
    assert headers[b"content-length"] == str(len(content))
    return [start["status"], headers.get(b"content-range"), content]


@pytest.mark.parametrize(
    ("byte_range", "content_range", "first", "end"),
    [
        ("bytes=0-0", "bytes 0-0/3000000", 0, 1),
        ("bytes=7-", "bytes 7-2999999/3000000", 7, 3_000_000),
        ("bytes=2999999-9999999", "bytes 2999999-2999999/3000000", 2_999_999, 3_000_000),
    ],
)
def test_a_range_of_a_version_is_cut(
    byte_range: str, content_range: str, first: int, end: int
) -> None:
    """Status, headers and bytes are those of S3."""
    content = bytes(range(250)) * 12_000
    got = got_of_an_app(content, b"versionId=v1&x-id=GetObject", byte_range)
    assert got == [206, content_range, content[first:end]]


@pytest.mark.parametrize(
    ("query", "status", "byte_range"),
    [
        (b"x-id=GetObject", 200, "bytes=1-2"),
        (b"versionId=v1", 412, "bytes=1-2"),
        (b"versionId=v1", 200, "bytes=90-"),
        (b"versionId=v1", 200, "bytes=-2"),
    ],
)
def test_other_responses_to_ranges_stay(query: bytes, status: int, byte_range: str) -> None:
    """Ministack cuts ranges of current objects itself; errors are not objects."""
    assert got_of_an_app(b"content", query, byte_range, status) == [status, None, b"content"]


def test_it_listens_on_this_machine_alone() -> None:
    """The address is the one that the launcher names."""
    config = server_config(
        {
            "BIND_HOST": "127.0.0.1",
            "GATEWAY_PORT": "4566",
            "MINISTACK_SSL_CERT": "certificate.pem",
            "MINISTACK_SSL_KEY": "key.pem",
        }
    )

    assert config.bind == ["127.0.0.1:4566"]
    assert (config.certfile, config.keyfile) == ("certificate.pem", "key.pem")


def test_ministack_is_served_with_our_worker(monkeypatch: pytest.MonkeyPatch) -> None:
    """It finds our worker where it looks for its own Python."""
    served: list[object] = []

    async def serve(app: object, _config: object) -> None:
        served.append(app)

    monkeypatch.setitem(sys.modules, "ministack.app", SimpleNamespace(app=print))
    monkeypatch.setattr("hypercorn.asyncio.serve", serve)
    monkeypatch.setattr(sys, "executable", sys.executable)
    for name in ("BIND_HOST", "GATEWAY_PORT", "MINISTACK_SSL_CERT", "MINISTACK_SSL_KEY"):
        monkeypatch.setenv(name, "1")

    gateway.main("our-worker")

    assert sys.executable == "our-worker"
    assert len(served) == 1
