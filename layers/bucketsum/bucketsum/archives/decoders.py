"""Compressed bytes → output in pieces of bounded size, whatever the bytes are.

ISA-L decompresses Deflate at 2.5 times zlib's speed; without its wheel, zlib does it. Deflate64
and, before Python 3.14, Zstandard need wheels too (layers/bucketsum/requirements-binary.txt); a
member that needs a missing wheel is unreadable with that reason.
"""

from __future__ import annotations

import bz2
import importlib
import lzma
import zlib
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, Final, NoReturn, Protocol

from bucketsum.archives.model import Engine, Limits, Member, MemberUnreadable, Problem

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from _typeshed import ReadableBuffer

PIECE_BYTES: Final = 128 * 1024
"""Most output at a time: it is hashed while the CPU's cache holds it."""

_DEFLATE64_FEED_BYTES: Final = 256  # its decoder has no limit; 18 bits can come to 65,538 bytes
_ZSTANDARD_FEED_BYTES: Final = 8192  # each frame's end copies the rest of it
_LZMA_LEAD_BYTES: Final = 9  # version (2), length of properties (2), properties (5)
_LZMA_DICTIONARY_MIN: Final = 4096
_LZMA_END_MARK_BIT: Final = 2


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


class Decoder(Protocol):
    """Decodes one member."""

    @property
    def finished(self) -> bool:
        """Whether the compressed stream has come to its end."""
        ...

    def decode(self, data: ReadableBuffer) -> Iterator[bytes | memoryview]:
        """The output that *data* adds, in pieces; bytes after the stream's end are ignored.

        Raises:
            MemberUnreadable: It is damaged, or needs more memory than is allowed.
        """
        ...


@contextmanager
def _naming_damage(*errors: type[Exception]) -> Iterator[None]:
    """Turn a library's *errors* into the member's problem."""
    try:
        yield
    except errors as error:
        raise MemberUnreadable(Problem.DAMAGED, f"it cannot be decoded ({error})") from None


class _Stored:
    finished = True

    def decode(self, data: ReadableBuffer) -> Iterator[bytes | memoryview]:
        yield memoryview(data)


class _Bounded:
    """Any decompressor with the interface of `bz2.BZ2Decompressor`, and the *errors* it raises."""

    def __init__(self, decompressor: Any, *errors: type[Exception]) -> None:  # noqa: ANN401 - bz2's, lzma's, isal's, zstd's
        self._decompressor = decompressor
        self._errors = errors

    @property
    def finished(self) -> bool:
        return bool(self._decompressor.eof)

    @property
    def unused(self) -> bytes:
        """Input after the stream's end."""
        return bytes(self._decompressor.unused_data)

    def decode(self, data: ReadableBuffer) -> Iterator[bytes | memoryview]:
        decompressor = self._decompressor
        if decompressor.eof:
            return
        with _naming_damage(*self._errors, EOFError, ValueError):
            yield decompressor.decompress(data, PIECE_BYTES)
            while not (decompressor.needs_input or decompressor.eof):
                yield decompressor.decompress(b"", PIECE_BYTES)


class _Zlib:
    """Deflate by zlib, which returns unused input and may keep output back."""

    def __init__(self) -> None:
        self._decompressor = zlib.decompressobj(-zlib.MAX_WBITS)

    @property
    def finished(self) -> bool:
        return self._decompressor.eof

    def decode(self, data: ReadableBuffer) -> Iterator[bytes | memoryview]:
        full = True
        with _naming_damage(zlib.error):
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
        with _naming_damage(ValueError, EOFError, OSError):
            for at in range(0, len(view), _DEFLATE64_FEED_BYTES):
                if self._inflater.eof:
                    return
                yield self._inflater.inflate(bytes(view[at : at + _DEFLATE64_FEED_BYTES]))


class _Lzma:
    """Raw LZMA after zip's own header, which may come in pieces of any size."""

    def __init__(self, member: Member, limits: Limits) -> None:
        self._lead = b""
        self._inner: _Bounded | None = None
        self._left_bytes = self._size_bytes = member.size_bytes
        self._window_bytes = limits.window_bytes
        self._has_end_mark = bool(member.flags & _LZMA_END_MARK_BIT)

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
            self._inner = _Bounded(self._opened(self._lead), lzma.LZMAError)
            data, self._lead = self._lead[_LZMA_LEAD_BYTES:], b""
        if self._has_end_mark:
            yield from self._inner.decode(data)
        elif self._left_bytes:  # the stream ends at the declared size; the decoder would go on
            for piece in self._inner.decode(data):
                yield piece[: self._left_bytes]
                self._left_bytes -= min(len(piece), self._left_bytes)
                if not self._left_bytes:
                    return

    def _opened(self, lead: bytes) -> lzma.LZMADecompressor:
        properties = lead[4]
        rest, lc = divmod(properties, 9)
        pb, lp = divmod(rest, 5)
        if int.from_bytes(lead[2:4], "little") != 5 or pb > 4 or lc + lp > 4:  # noqa: PLR2004 - as LZMA has it
            raise MemberUnreadable(Problem.DAMAGED, "its LZMA header is not one")
        declared = int.from_bytes(lead[5:9], "little")
        # A dictionary larger than the member is never used.
        dictionary = max(min(declared, self._size_bytes), _LZMA_DICTIONARY_MIN)
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
    """Any number of frames, some of which may be skippable, with a bounded window."""

    def __init__(self, zstd: Any, member: Member, limits: Limits) -> None:  # noqa: ANN401 - the module
        log = max(10, limits.window_bytes.bit_length() - 1)
        self._zstd = zstd
        self._options = {zstd.DecompressionParameter.window_log_max: min(log, 31)}
        self._left_bytes = member.size_bytes
        self._allowed_bytes = limits.window_bytes
        self._frame = self._next_frame()

    @property
    def finished(self) -> bool:
        return self._frame.finished

    def decode(self, data: ReadableBuffer) -> Iterator[bytes | memoryview]:
        view = memoryview(data)
        for at in range(0, len(view), _ZSTANDARD_FEED_BYTES):
            try:
                yield from self._decode(view[at : at + _ZSTANDARD_FEED_BYTES])
            except self._zstd.ZstdError as error:
                if "memory" not in str(error):  # zstd has a single error class
                    raise MemberUnreadable(
                        Problem.DAMAGED, f"it cannot be decoded ({error})"
                    ) from None
                raise MemberUnreadable(
                    Problem.MEMORY,
                    f"its window takes more than the {self._allowed_bytes} bytes allowed: raise "
                    "MemorySize",
                ) from None

    def _decode(self, data: bytes | memoryview) -> Iterator[bytes | memoryview]:
        while data:
            if self._frame.finished:
                if not self._left_bytes:
                    return  # bytes after the last frame
                self._frame = self._next_frame()
            for piece in self._frame.decode(data):
                self._left_bytes -= len(piece)
                yield piece
            data = self._frame.unused if self._frame.finished else b""

    def _next_frame(self) -> _Bounded:
        return _Bounded(self._zstd.ZstdDecompressor(options=self._options))


def _deflate(_member: Member, _limits: Limits, engine: Engine) -> Decoder:
    if engine is Engine.ISAL and _ISAL:
        return _Bounded(_ISAL.IgzipDecompressor(flag=_ISAL.DECOMP_DEFLATE), _ISAL.error)
    return _Zlib()


def _deflate64(*_: object) -> Decoder:
    # Imported when needed: it takes 20 ms.
    return _Deflate64(_optional("inflate64") or _missing("inflate64"))


def _zstandard(member: Member, limits: Limits, _engine: Engine) -> Decoder:
    zstd = _optional("compression.zstd") or _optional("backports.zstd")
    return _Zstandard(zstd or _missing("backports.zstd"), member, limits)


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
    9: _Method("deflate64", _deflate64),
    12: _Method("bzip2", lambda *_: _Bounded(bz2.BZ2Decompressor(), OSError)),
    14: _Method("lzma", lambda member, limits, _: _Lzma(member, limits)),
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
