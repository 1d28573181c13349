"""OpenSSL digests whose state can be read and set.

hashlib hides its state. OpenSSL's ``SHA1_Init`` and ``SHA1_Update`` keep theirs in a struct that
begins with the hash words; they are reached through the library that Python's ``_hashlib`` is
linked to: the same code at the same speed. Only these words are taken from the struct. The padding
is computed here, so nothing else in the struct matters. `library_for` checks all of this against
hashlib before it is used.
"""

from __future__ import annotations

import ctypes
import importlib
import sys
from collections.abc import Iterable
from contextlib import suppress
from typing import Final

from bucketsum.algorithms import ALGORITHMS, CRC32, SHA1, Algorithm
from bucketsum.errors import LibraryMissing

_STRUCT_BYTES: Final = 1024  # far more than any of the structs has
_SHARED_LIBRARY: Final = "libcrypto.so.3"


class OpenSslDigest:
    """A digest by OpenSSL's low-level functions; the caller keeps the length."""

    def __init__(
        self, algorithm: Algorithm, library: ctypes.CDLL, words: bytes | None = None
    ) -> None:
        self._algorithm = algorithm
        self._update = _function(library, f"{algorithm.label}_Update")
        self._context = (ctypes.c_uint64 * (_STRUCT_BYTES // 8))()  # aligned for any word
        _function(library, f"{algorithm.label}_Init")(self._context)
        if words is not None:
            ctypes.memmove(self._context, self._native(words), len(words))

    def update(self, data: bytes, /) -> None:
        """Continue with *data*; other threads run meanwhile."""
        self._update(self._context, data, ctypes.c_size_t(len(data)))

    def words(self) -> bytes:
        """The hash words after the last complete block, in the digest's byte order."""
        return self._native(bytes(self._context)[: self._algorithm.state_bytes])

    def finished(self, length: int) -> bytes:
        """The digest of the *length* bytes so far; nothing can be added any more."""
        self.update(padding(self._algorithm, length))
        return self.words()[: self._algorithm.hex_digits // 2]

    def _native(self, words: bytes) -> bytes:
        """Convert *words* from the digest's byte order to this CPU's, or back."""
        if self._algorithm.byte_order == sys.byteorder:
            return words
        size = _word_bytes(self._algorithm)
        return b"".join(words[n : n + size][::-1] for n in range(0, len(words), size))


def padding(algorithm: Algorithm, length: int) -> bytes:
    """The padding of a message of *length* bytes, which ends with its length in bits."""
    counter_bytes = 2 * _word_bytes(algorithm)
    zeros = -(length + 1 + counter_bytes) % algorithm.block_bytes
    return b"\x80" + bytes(zeros) + (8 * length).to_bytes(counter_bytes, algorithm.byte_order)


def _word_bytes(algorithm: Algorithm) -> int:
    return algorithm.block_bytes // 16


def library_for(extra_algorithms: Iterable[str] = ()) -> ctypes.CDLL:
    """An OpenSSL that agrees with hashlib, for SHA-1 and *extra_algorithms*.

    Raises:
        LibraryMissing: There is none; the text says where it was looked for.
    """
    names = [name for name in (SHA1.name, *extra_algorithms) if name != CRC32.name]
    problems = []
    for path in _candidates():
        try:
            library = ctypes.CDLL(path)
            for name in names:
                _verify(ALGORITHMS[name], library)
        except (OSError, LibraryMissing) as error:
            problems.append(f"{path or 'this program'}: {error}")
        else:
            return library
    raise LibraryMissing(
        "an object of this size needs OpenSSL's low-level digests, such as SHA1_Update of "
        f"{_SHARED_LIBRARY}, and this runtime has none that work ({'; '.join(problems)}); choose "
        "another PythonRuntime"
    )


def _candidates() -> list[str | None]:
    """Files to look in; None is the running program, if OpenSSL is linked into it."""
    files: list[str | None] = [_SHARED_LIBRARY]
    with suppress(ImportError):
        files.insert(0, getattr(importlib.import_module("_hashlib"), "__file__", None))
    return files


def _function(library: ctypes.CDLL, name: str) -> ctypes._NamedFuncPointer:
    try:
        return getattr(library, name)  # type: ignore[no-any-return] # a function of the library
    except AttributeError as error:
        raise LibraryMissing(f"it has no {name}") from error


def _verify(algorithm: Algorithm, library: ctypes.CDLL) -> None:
    """Check a text, hashed in two halves, against hashlib."""
    halves = [bytes(range(256)), bytes(range(255, 0, -1))]
    first = OpenSslDigest(algorithm, library)
    first.update(halves[0])
    second = OpenSslDigest(algorithm, library, first.words())
    second.update(halves[1])
    whole = algorithm.new()
    whole.update(b"".join(halves))
    if second.finished(511).hex() != whole.hexdigest():
        raise LibraryMissing(f"the state of its {algorithm.label} has another layout")
