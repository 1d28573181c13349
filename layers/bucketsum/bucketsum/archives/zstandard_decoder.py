"""Decoder of Zstandard, whose streams may have several frames."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import chain
from typing import Any, Final

from bucketsum.archives.bounded_decoder import Compressed, Pieces, pieces_of
from bucketsum.archives.zip_model import Member, MemberUnreadable, Problem, StreamEndsEarly
from bucketsum.table.archive_settings import Limits

_FEED_BYTES: Final = 8192  # each frame's end copies the rest of it
_TOGETHER_BYTES: Final = 64  # zstd takes an empty frame only if it comes in one piece


def zstandard_decoded(compressed: Compressed, member: Member, limits: Limits, zstd: Any) -> Pieces:  # noqa: ANN401 - the module
    """Decode any number of frames, some of which may be skippable, with a bounded window."""
    log = max(10, limits.window_bytes.bit_length() - 1)
    options = {zstd.DecompressionParameter.window_log_max: min(log, 31)}
    new_frame = partial(zstd.ZstdDecompressor, options=options)
    try:
        return (yield from _frames(compressed, member.size_bytes, new_frame))
    except zstd.ZstdError as error:
        if "memory" not in str(error):  # zstd has a single error class
            raise MemberUnreadable(Problem.DAMAGED, f"it cannot be decoded ({error})") from None
        raise MemberUnreadable(
            Problem.MEMORY,
            f"its window takes more than the {limits.window_bytes} bytes allowed: raise MemorySize",
        ) from None


def _frames(compressed: Compressed, left_bytes: int, new_frame: Callable[[], Any]) -> Pieces:
    frame, rest = new_frame(), b""
    for feed in chain(_feeds(compressed), (b"",)):
        data, rest = rest + feed if rest else feed, b""
        while data:
            if frame.eof:
                if not left_bytes:
                    return None  # bytes after the last frame
                if feed and len(data) < _TOGETHER_BYTES:
                    rest = bytes(data)
                    break
                frame = new_frame()
            for piece in pieces_of(frame, data, left_bytes):
                left_bytes -= len(piece)
                yield piece
            data = frame.unused_data if frame.eof else b""
    if not frame.eof:
        raise StreamEndsEarly
    return None


def _feeds(compressed: Compressed) -> Compressed:
    for data in compressed:
        yield from (data[at : at + _FEED_BYTES] for at in range(0, len(data), _FEED_BYTES))
