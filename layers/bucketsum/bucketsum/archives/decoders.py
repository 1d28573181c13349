"""Compressed bytes → pieces of what they were, of bounded size, whatever the bytes say.

ISA-L inflates at 2.5 times zlib's speed; where its wheel is missing, zlib does it. Deflate64 and,
before Python 3.14, Zstandard need wheels too (layers/bucketsum/requirements-binary.txt); a member
that needs one that is not there is unreadable with that reason.
"""

from __future__ import annotations

import bz2
import importlib
import lzma
import zlib
from functools import cache
from typing import TYPE_CHECKING, Any, Final, Protocol

from bucketsum.archives.model import Engine, Limits, Member, MemberUnreadable, Problem

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from _typeshed import ReadableBuffer

PIECE_BYTES: Final = 128 * 1024
"""Most bytes that come out at a time: they are hashed while the processor's cache holds them."""

_DEFLATE64_FEED_BYTES: Final = 256  # its decoder has no limit; 18 bits can come to 65,538 bytes
_LZMA_LEAD_BYTES: Final = 9  # version (2), length of properties (2), properties (5)
_LZMA_DICTIONARY_MIN: Final = 4096


@cache
def _optional(name: str) -> Any:  # noqa: ANN401 - a module, whose stubs may be missing with it
    try:
        return importlib.import_module(name)
    except ImportError:
        return None


_ISAL: Final = _optional("isal.igzip_lib")
_ISAL_CRC: Final = _optional("isal.isal_zlib")

ENGINES: Final = (Engine.ISAL, Engine.ZLIB) if _ISAL else (Engine.ZLIB,)
"""What can inflate here, the fastest first."""

crc32: Final[Callable[[ReadableBuffer, int], int]] = _ISAL_CRC.crc32 if _ISAL_CRC else zlib.crc32


class Decoder(Protocol):
    """Decodes one member."""

    @property
    def finished(self) -> bool:
        """Whether the compressed stream has come to its end."""
        ...

    def decode(self, data: ReadableBuffer) -> Iterator[bytes | memoryview]:
        """What *data* adds, in pieces; bytes behind the stream's end are ignored.

        Raises:
            MemberUnreadable: It is damaged, or needs more memory than is allowed.
        """
        ...


class _Stored:
    finished = True

    def decode(self, data: ReadableBuffer) -> Iterator[bytes | memoryview]:
        yield memoryview(data)


class _Bounded:
    """Any decompressor with the interface of `bz2.BZ2Decompressor`."""

    def __init__(self, engine: Any) -> None:  # noqa: ANN401 - bz2's, lzma's, isal's, zstd's
        self._engine = engine

    @property
    def finished(self) -> bool:
        return bool(self._engine.eof)

    def decode(self, data: ReadableBuffer) -> Iterator[bytes | memoryview]:
        engine = self._engine
        if engine.eof:
            return
        yield engine.decompress(data, PIECE_BYTES)
        while not (engine.needs_input or engine.eof):
            yield engine.decompress(b"", PIECE_BYTES)


class _Zlib:
    """zlib's own: it keeps what it did not take, and may hold output back behind it."""

    def __init__(self) -> None:
        self._engine = zlib.decompressobj(-zlib.MAX_WBITS)

    @property
    def finished(self) -> bool:
        return self._engine.eof

    def decode(self, data: ReadableBuffer) -> Iterator[bytes | memoryview]:
        engine = self._engine
        full = True
        while full and not engine.eof:
            piece = engine.decompress(data, PIECE_BYTES)
            yield piece
            data = engine.unconsumed_tail
            full = bool(data) or len(piece) == PIECE_BYTES


class _Deflate64:
    def __init__(self, inflate64: Any) -> None:  # noqa: ANN401 - the module
        self._engine = inflate64.Inflater()

    @property
    def finished(self) -> bool:
        return bool(self._engine.eof)

    def decode(self, data: ReadableBuffer) -> Iterator[bytes | memoryview]:
        view = memoryview(data)
        for at in range(0, len(view), _DEFLATE64_FEED_BYTES):
            if self._engine.eof:
                return
            yield self._engine.inflate(bytes(view[at : at + _DEFLATE64_FEED_BYTES]))


class _Lzma:
    """Raw LZMA behind zip's own header, which is read first, in however small pieces it comes."""

    def __init__(self, member: Member, limits: Limits) -> None:
        self._lead = b""
        self._inner: _Bounded | None = None
        self._size_bytes = member.size_bytes
        self._window_bytes = limits.window_bytes
        self._has_end_mark = bool(member.flags & 2)

    @property
    def finished(self) -> bool:
        if self._inner is None:
            return False
        return self._inner.finished or not self._has_end_mark

    def decode(self, data: ReadableBuffer) -> Iterator[bytes | memoryview]:
        if self._inner is None:
            self._lead += bytes(data)
            if len(self._lead) < _LZMA_LEAD_BYTES:
                return
            self._inner = _Bounded(self._opened(self._lead))
            data, self._lead = self._lead[_LZMA_LEAD_BYTES:], b""
        yield from self._inner.decode(data)

    def _opened(self, lead: bytes) -> lzma.LZMADecompressor:
        properties = lead[4]
        rest, lc = divmod(properties, 9)
        pb, lp = divmod(rest, 5)
        if int.from_bytes(lead[2:4], "little") != 5 or pb > 4 or lc + lp > 4:  # noqa: PLR2004 - as LZMA has it
            raise MemberUnreadable(Problem.DAMAGED, "its LZMA header is not one")
        told = int.from_bytes(lead[5:9], "little")
        # No more than the member's own size can be looked back on.
        dictionary = max(min(told, self._size_bytes), _LZMA_DICTIONARY_MIN)
        _refuse_window(dictionary, self._window_bytes)
        chain = [{"id": lzma.FILTER_LZMA1, "dict_size": dictionary, "lc": lc, "lp": lp, "pb": pb}]
        return lzma.LZMADecompressor(lzma.FORMAT_RAW, filters=chain)


def _refuse_window(window_bytes: int, allowed_bytes: int) -> None:
    if window_bytes > allowed_bytes:
        raise MemberUnreadable(
            Problem.MEMORY,
            f"its dictionary takes {window_bytes} bytes, {allowed_bytes} are allowed: raise "
            "MemorySize",
        )


class _Zstandard:
    """One frame, with as much to look back on as memory allows."""

    def __init__(self, zstd: Any, limits: Limits) -> None:  # noqa: ANN401 - the module
        log = max(10, limits.window_bytes.bit_length() - 1)
        options = {zstd.DecompressionParameter.window_log_max: min(log, 31)}
        self._bounded = _Bounded(zstd.ZstdDecompressor(options=options))
        self._error = zstd.ZstdError
        self._allowed_bytes = limits.window_bytes

    @property
    def finished(self) -> bool:
        return self._bounded.finished

    def decode(self, data: ReadableBuffer) -> Iterator[bytes | memoryview]:
        try:
            yield from self._bounded.decode(data)
        except self._error as error:
            if "memory" not in str(error):  # zstd has one error for all, told apart by its text
                raise ValueError(str(error)) from None
            raise MemberUnreadable(
                Problem.MEMORY,
                f"its window takes more than the {self._allowed_bytes} bytes allowed: raise "
                "MemorySize",
            ) from None


def _inflate(engine: Engine) -> Decoder:
    if engine is Engine.ISAL and _ISAL:
        return _Bounded(_ISAL.IgzipDecompressor(flag=_ISAL.DECOMP_DEFLATE))
    return _Zlib()


def _missing(wheel: str) -> MemberUnreadable:
    return MemberUnreadable(Problem.METHOD, f"the layer was built without {wheel}")


def _deflate64() -> Decoder:
    inflate64 = _optional("inflate64")  # asked for when needed: it takes 20 ms to import
    if inflate64 is None:
        raise _missing("inflate64")
    return _Deflate64(inflate64)


def _zstandard(limits: Limits) -> Decoder:
    zstd = _optional("compression.zstd") or _optional("backports.zstd")
    if zstd is None:
        raise _missing("backports.zstd")
    return _Zstandard(zstd, limits)


METHODS: Final[Mapping[int, str]] = {
    0: "stored", 8: "deflate", 9: "deflate64", 12: "bzip2", 14: "lzma", 93: "zstandard",
    20: "zstandard", # its first number, withdrawn
}  # fmt: skip
"""Numbers of the compression methods that are decoded."""

DAMAGES: Final[tuple[type[Exception], ...]] = (
    zlib.error,
    lzma.LZMAError,
    EOFError,
    OSError,  # bz2's
    ValueError,
    *((_ISAL.error,) if _ISAL else ()),
)
"""What decoders raise of bytes that are not theirs."""


def decoder_for(member: Member, limits: Limits, engine: Engine = ENGINES[0]) -> Decoder:
    """A decoder for *member*; *engine* inflates, one of `ENGINES`.

    Raises:
        MemberUnreadable: It is encrypted, or its method is none of ours.
    """
    if member.is_encrypted:
        raise MemberUnreadable(Problem.ENCRYPTED, "it is encrypted; bucketsum knows no password")
    method = METHODS.get(member.method)
    if method is None:
        known = ", ".join(dict.fromkeys(METHODS.values()))
        raise MemberUnreadable(
            Problem.METHOD, f"it is compressed by method {member.method}; known are {known}"
        )
    return _MAKERS[method](member, limits, engine)


_MAKERS: Final[Mapping[str, Callable[[Member, Limits, Engine], Decoder]]] = {
    "stored": lambda *_: _Stored(),
    "deflate": lambda _member, _limits, engine: _inflate(engine),
    "deflate64": lambda *_: _deflate64(),
    "bzip2": lambda *_: _Bounded(bz2.BZ2Decompressor()),
    "lzma": lambda member, limits, _: _Lzma(member, limits),
    "zstandard": lambda _member, limits, _: _zstandard(limits),
}
