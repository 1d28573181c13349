"""Compressed bytes → output in pieces of bounded size, whatever the bytes are.

ISA-L decompresses Deflate at 2.5 times zlib's speed; without its wheel, zlib does it. Deflate64
and, before Python 3.14, Zstandard need wheels too (layers/bucketsum/requirements-binary.txt); a
member that needs a missing wheel is unreadable with that reason.
"""

from __future__ import annotations

import bz2
import importlib
import zlib
from collections.abc import Callable, Mapping
from functools import cache
from typing import TYPE_CHECKING, Any, Final, NoReturn

from bucketsum.archives.bounded_decoder import (
    Compressed,
    Pieces,
    bounded,
    naming_damage,
    piece_bytes,
)
from bucketsum.archives.lzma_decoder import lzma_decoded
from bucketsum.archives.zip_model import Member, MemberUnreadable, Problem, StreamEndsEarly
from bucketsum.archives.zstandard_decoder import zstandard_decoded
from bucketsum.table.archive_settings import Engine, Limits

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer


_DEFLATE64_FEED_BYTES: Final = 256  # its decoder has no limit; 18 bits can come to 65,538 bytes


@cache
def _optional(name: str) -> Any:  # noqa: ANN401 - a module, whose stubs may be missing with it
    try:
        return importlib.import_module(name)
    except ImportError:
        return None


_DEFLATED: Final = 8
_ISAL: Final = _optional("isal.igzip_lib")
_ISAL_CRC: Final = _optional("isal.isal_zlib")

ENGINES: Final = (Engine.ISAL, Engine.ZLIB) if _ISAL else (Engine.ZLIB,)
"""Decompression libraries for Deflate that are installed, the fastest first."""

crc32: Final[Callable[[ReadableBuffer, int], int]] = _ISAL_CRC.crc32 if _ISAL_CRC else zlib.crc32


def _stored(compressed: Compressed, *_: object) -> Pieces:
    yield from compressed
    return None


def _zlib(compressed: Compressed, left_bytes: int) -> Pieces:
    """Deflate by zlib, which returns unused input and may keep output back."""
    decompressor = zlib.decompressobj(-zlib.MAX_WBITS)
    for view in compressed:
        data, full = view, True
        with naming_damage(zlib.error):
            while full and not decompressor.eof:
                most = piece_bytes(left_bytes)
                piece = decompressor.decompress(data, most)
                yield piece
                left_bytes -= len(piece)
                data = decompressor.unconsumed_tail
                full = bool(data) or len(piece) == most
        if decompressor.eof:
            return len(decompressor.unused_data)
    raise StreamEndsEarly


def _deflate(compressed: Compressed, member: Member, _limits: Limits, engine: Engine) -> Pieces:
    if engine is Engine.ISAL and _ISAL:
        decompressor = _ISAL.IgzipDecompressor(flag=_ISAL.DECOMP_DEFLATE)
        return bounded(decompressor, compressed, member.size_bytes, _ISAL.error)
    return _zlib(compressed, member.size_bytes)


def whole_content(member: Member, compressed: bytes, engine: Engine) -> bytes | None:
    """The content of a small member, stored or in Deflate, if it has exactly the size it should."""
    if member.is_encrypted:
        return None
    content: bytes | None = compressed if not member.method else None
    if member.method == _DEFLATED and engine is Engine.ISAL and _ISAL:
        decompressor = _ISAL.IgzipDecompressor(flag=_ISAL.DECOMP_DEFLATE)
        try:
            content = decompressor.decompress(compressed, member.size_bytes)
        except _ISAL.error:
            return None
        content = content if decompressor.eof and not decompressor.unused_data else None
    return content if content is not None and len(content) == member.size_bytes else None


def _deflate64(compressed: Compressed, *_: object) -> Pieces:
    inflate64 = _optional("inflate64") or _missing("inflate64")  # imported late: it takes 20 ms
    inflater = inflate64.Inflater()
    # It never releases the input that it is given, so it is given the same buffer again and again.
    feed = memoryview(bytearray(_DEFLATE64_FEED_BYTES))
    for data in compressed:
        with naming_damage(ValueError, EOFError, OSError):
            for at in range(0, len(data), _DEFLATE64_FEED_BYTES):
                if inflater.eof:
                    return None
                part = data[at : at + _DEFLATE64_FEED_BYTES]
                feed[: len(part)] = part
                yield inflater.inflate(feed if len(part) == len(feed) else feed[: len(part)])
    if not inflater.eof:
        raise StreamEndsEarly
    return None


def _bzip2(compressed: Compressed, member: Member, *_: object) -> Pieces:
    return bounded(bz2.BZ2Decompressor(), compressed, member.size_bytes, OSError)


def _zstandard(compressed: Compressed, member: Member, limits: Limits, _engine: Engine) -> Pieces:
    zstd = _optional("compression.zstd") or _optional("backports.zstd")
    return zstandard_decoded(compressed, member, limits, zstd or _missing("backports.zstd"))


def _missing(wheel: str) -> NoReturn:
    raise MemberUnreadable(Problem.METHOD, f"the layer was built without {wheel}")


_ZSTANDARD: Final = ("zstandard", _zstandard)
_METHODS: Final[Mapping[int, tuple[str, Callable[..., Pieces]]]] = {
    0: ("stored", _stored),
    8: ("deflate", _deflate),
    9: ("deflate64", _deflate64),
    12: ("bzip2", _bzip2),
    14: ("lzma", lambda data, member, limits, _: lzma_decoded(data, member, limits)),
    93: _ZSTANDARD,
    20: _ZSTANDARD,  # its first number, withdrawn
}
"""Number of a compression method → its name and decoder."""


def method_name(number: int) -> str:
    """The name of a compression method; its number if it cannot be decoded."""
    return _METHODS[number][0] if number in _METHODS else str(number)


def decoded(
    member: Member, compressed: Compressed, limits: Limits, engine: Engine = ENGINES[0]
) -> Pieces:
    """The content of *member*, decoded from *compressed*, with *engine* for Deflate.

    Raises:
        MemberUnreadable: It is encrypted, or its method is not supported.
    """
    if member.is_encrypted:
        raise MemberUnreadable(Problem.ENCRYPTED, "it is encrypted; bucketsum knows no password")
    if not (member.compressed_bytes or member.size_bytes):
        return _stored(())
    if member.method not in _METHODS:
        known = ", ".join(dict.fromkeys(name for name, _ in _METHODS.values()))
        raise MemberUnreadable(
            Problem.METHOD, f"it is compressed by method {member.method}; known are {known}"
        )
    _, decoder = _METHODS[member.method]
    return decoder(compressed, member, limits, engine)
