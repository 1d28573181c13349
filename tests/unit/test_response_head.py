"""The head of a response, from the lines that libcurl passes on."""

from typing import Final

import pytest

from bucketsum.events.object_events import ObjectCreated
from bucketsum.s3.response_head import ResponseHead

HEAD: Final = (b"HTTP/1.1 200 OK\r\n", b'ETag: "a"\r\n', b"Content-Length: 5\r\n", b"\r\n")
TRAILERS: Final = (
    (b'ETag: "b"\r\n', b"Content-Length: 6\r\n", b"\r\n"),
    (b"HTTP/1.1 206 Partial Content\r\n", b'ETag: "b"\r\n', b"\r\n"),
    (b"\r\n",),
)
INTERIM: Final = (b"HTTP/1.1 103 Early Hints\r\n", b'ETag: "b"\r\n', b"\r\n")


@pytest.mark.parametrize(
    "lines", [*((*HEAD, *trailer) for trailer in TRAILERS), (*INTERIM, *INTERIM, *HEAD)]
)
def test_trailers_and_interim_heads_change_nothing(lines: tuple[bytes, ...]) -> None:
    """From libcurl, the lines after a chunked body come like those before it."""
    head = ResponseHead.of(lines)
    assert (head.status, head.etag, head.length) == (200, '"a"', 5)


@pytest.mark.parametrize("lines", [(), INTERIM, HEAD[1:], (b"HTTP/1.1 \r\n", *HEAD[1:])])
def test_without_a_final_head_the_status_is_0(lines: tuple[bytes, ...]) -> None:
    """The connection ended too early, or no server of HTTP answered."""
    assert ResponseHead.of(lines) == ResponseHead(0, {})


@pytest.mark.parametrize("length", [b"", b"-1", b"1.5", b"\xb2", b"9" * 5000])
def test_a_length_that_is_none_is_no_error(length: bytes) -> None:
    """The response is then an unusual one, and fails no other object of a batch."""
    head = ResponseHead.of((HEAD[0], HEAD[1], b"Content-Length: " + length + b"\r\n", b"\r\n"))
    assert head.length == -1
    assert head.mismatch(ObjectCreated("inbox", "k", None, None, 5, "", "")).startswith("Content-L")


def test_a_header_that_comes_twice_is_a_list() -> None:
    """Neither of two entity tags, lengths or checksums is believed."""
    twice = (b'etag: "b"\r\n', b"content-length: 5\r\n")
    head = ResponseHead.of((*HEAD[:-1], *twice, b"\r\n"))
    assert (head.etag, head.length) == ('"a", "b"', -1)
