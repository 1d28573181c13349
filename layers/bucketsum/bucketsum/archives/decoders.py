"""Compressed bytes → output in pieces of bounded size, whatever the bytes are.

ISA-L decompresses Deflate at 2.5 times zlib's speed; without its wheel, zlib does it. Deflate64
and, before Python 3.14, Zstandard need wheels too (layers/bucketsum/requirements-binary.txt); a
member that needs a missing wheel is unreadable with that reason.
"""

from __future__ import annotations

import bz2
import importlib
import zlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, Final, NoReturn

from bucketsum.archives.bounded_decoder import PIECE_BYTES, BoundedDecoder, naming_damage
from bucketsum.archives.lzma_decoder import LzmaDecoder
from bucketsum.archives.zip_model import Member, MemberUnreadable, Problem
from bucketsum.archives.zstandard_decoder import ZstandardDecoder
from bucketsum.table.archive_values import Engine, Limits

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

    from bucketsum.archives.bounded_decoder import Decoder

_DEFLATE64_FEED_BYTES: Final = 256  # its decoder has no limit; 18 bits can come to 65,538 bytes


@cache
def _optional(name: str) -> Any:  # noqa: ANN401 - a module, whose stubs may be missing with it
    try:
        return importlib.import_module(name)
    except ImportError:
        return None


_ISAL: Final = _optional("isal.igzip_lib")
_ISAL_CRC: Final = _optional("isal.isal_zlib")

ENGINES: Final = (Engine.ISAL, Engine.ZLIB) if _ISAL else (Engine.ZLIB,)
"""Decompression libraries for Deflate that are installed, the fastest first."""

crc32: Final[Callable[[ReadableBuffer, int], int]] = _ISAL_CRC.crc32 if _ISAL_CRC else zlib.crc32


class _Stored:
    finished = True

    def decode(self, data: ReadableBuffer) -> Iterator[bytes | memoryview]:
        yield memoryview(data)


class _Zlib:
    """Deflate by zlib, which returns unused input and may keep output back."""

    def __init__(self) -> None:
        self._decompressor = zlib.decompressobj(-zlib.MAX_WBITS)

    @property
    def finished(self) -> bool:
        return self._decompressor.eof

    def decode(self, data: ReadableBuffer) -> Iterator[bytes | memoryview]:
        full = True
        with naming_damage(zlib.error):
            while full and not self._decompressor.eof:
                piece = self._decompressor.decompress(data, PIECE_BYTES)
                yield piece
                data = self._decompressor.unconsumed_tail
                full = bool(data) or len(piece) == PIECE_BYTES


class _Deflate64:
    def __init__(self, inflate64: Any) -> None:  # noqa: ANN401 - the module
        self._inflater = inflate64.Inflater()

    @property
    def finished(self) -> bool:
        return bool(self._inflater.eof)

    def decode(self, data: ReadableBuffer) -> Iterator[bytes | memoryview]:
        view = memoryview(data)
        with naming_damage(ValueError, EOFError, OSError):
            for at in range(0, len(view), _DEFLATE64_FEED_BYTES):
                if self._inflater.eof:
                    return
                yield self._inflater.inflate(bytes(view[at : at + _DEFLATE64_FEED_BYTES]))


def _deflate(_member: Member, _limits: Limits, engine: Engine) -> Decoder:
    if engine is Engine.ISAL and _ISAL:
        return BoundedDecoder(_ISAL.IgzipDecompressor(flag=_ISAL.DECOMP_DEFLATE), _ISAL.error)
    return _Zlib()


def _zstandard(member: Member, limits: Limits, _engine: Engine) -> Decoder:
    zstd = _optional("compression.zstd") or _optional("backports.zstd")
    return ZstandardDecoder(zstd or _missing("backports.zstd"), member, limits)


def _missing(wheel: str) -> NoReturn:
    raise MemberUnreadable(Problem.METHOD, f"the layer was built without {wheel}")


@dataclass(frozen=True, slots=True)
class _Method:
    """A compression method: its name, and the function that makes its decoder."""

    name: str
    decoder: Callable[[Member, Limits, Engine], Decoder]


_ZSTANDARD: Final = _Method("zstandard", _zstandard)
_METHODS: Final[Mapping[int, _Method]] = {
    0: _Method("stored", lambda *_: _Stored()),
    8: _Method("deflate", _deflate),
    # Imported when needed: it takes 20 ms.
    9: _Method("deflate64", lambda *_: _Deflate64(_optional("inflate64") or _missing("inflate64"))),
    12: _Method("bzip2", lambda *_: BoundedDecoder(bz2.BZ2Decompressor(), OSError)),
    14: _Method("lzma", lambda member, limits, _: LzmaDecoder(member, limits)),
    93: _ZSTANDARD,
    20: _ZSTANDARD,  # its first number, withdrawn
}


def method_name(number: int) -> str:
    """The name of a compression method; its number if it cannot be decoded."""
    method = _METHODS.get(number)
    return method.name if method else str(number)


def decoder_for(member: Member, limits: Limits, engine: Engine = ENGINES[0]) -> Decoder:
    """A decoder for *member*, with *engine* for Deflate.

    Raises:
        MemberUnreadable: It is encrypted, or its method is not supported.
    """
    if member.is_encrypted:
        raise MemberUnreadable(Problem.ENCRYPTED, "it is encrypted; bucketsum knows no password")
    method = _METHODS.get(member.method)
    if method is None:
        known = ", ".join(dict.fromkeys(method.name for method in _METHODS.values()))
        raise MemberUnreadable(
            Problem.METHOD, f"it is compressed by method {member.method}; known are {known}"
        )
    return method.decoder(member, limits, engine)
