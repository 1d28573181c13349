"""OpenSSL digests whose state can be read and set.

hashlib hides its state. OpenSSL's ``SHA1_Init`` and ``SHA1_Update`` keep theirs in a struct that
begins with the hash words; they are reached through the library that Python's ``_hashlib`` is
linked to: the same code at the same speed. Only these words are taken from the struct. The padding
is computed here, so nothing else in the struct matters. `library_for` checks all of this with known
vectors before it is used.
"""

from __future__ import annotations

import ctypes
import hashlib
import importlib
import sys
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Final, Literal

from bucketsum.digest import SHA1
from bucketsum.errors import LibraryMissing

_STRUCT_BYTES: Final = 1024  # far more than any of the structs has
_SHARED_LIBRARY: Final = "libcrypto.so.3"


@dataclass(frozen=True, slots=True)
class Algorithm:
    """Sizes, byte order and a test value of a digest algorithm.

    Attributes:
        prefix: Beginning of the names of OpenSSL's functions.
        byte_order: Byte order of words and length in the digest.
        abc: Digest of ``abc``, from the standard.
    """

    prefix: str
    words: int
    word_bytes: int
    block_bytes: int
    byte_order: Literal["big", "little"]
    abc: str

    @property
    def size_bytes(self) -> int:
        """Bytes of the hash words."""
        return self.words * self.word_bytes

    def padding(self, length: int) -> bytes:
        """The padding of a message of *length* bytes, which ends with its length in bits."""
        counter_bytes = 2 * self.word_bytes
        zeros = -(length + 1 + counter_bytes) % self.block_bytes
        return b"\x80" + bytes(zeros) + (8 * length).to_bytes(counter_bytes, self.byte_order)


ALGORITHMS: Final[Mapping[str, Algorithm]] = {
    SHA1: Algorithm("SHA1", 5, 4, 64, "big", "a9993e364706816aba3e25717850c26c9cd0d89d"),
    "sha256": Algorithm(
        "SHA256", 8, 4, 64, "big",
        "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
    ),
    "sha512": Algorithm(
        "SHA512", 8, 8, 128, "big",
        "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a"
        "2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f",
    ),
    "md5": Algorithm("MD5", 4, 4, 64, "little", "900150983cd24fb0d6963f7d28e17f72"),
}  # fmt: skip


class OpenSslDigest:
    """A digest by OpenSSL's low-level functions; the caller keeps the length."""

    def __init__(
        self, algorithm: Algorithm, library: ctypes.CDLL, words: bytes | None = None
    ) -> None:
        self._algorithm = algorithm
        self._update = _function(library, f"{algorithm.prefix}_Update")
        self._context = (ctypes.c_uint64 * (_STRUCT_BYTES // 8))()  # aligned for any word
        _function(library, f"{algorithm.prefix}_Init")(self._context)
        if words is not None:
            ctypes.memmove(self._context, self._native(words), len(words))

    def update(self, data: bytes, /) -> None:
        """Continue with *data*; other threads run meanwhile."""
        self._update(self._context, data, ctypes.c_size_t(len(data)))

    def words(self) -> bytes:
        """The hash words after the last complete block, in the digest's byte order."""
        return self._native(bytes(self._context)[: self._algorithm.size_bytes])

    def finished(self, length: int) -> bytes:
        """The digest of the *length* bytes so far; nothing can be added any more."""
        self.update(self._algorithm.padding(length))
        return self.words()

    def _native(self, words: bytes) -> bytes:
        """Convert *words* from the digest's byte order to this CPU's, or back."""
        if self._algorithm.byte_order == sys.byteorder:
            return words
        size = self._algorithm.word_bytes
        return b"".join(words[n : n + size][::-1] for n in range(0, len(words), size))


def library_for(extra_algorithms: Iterable[str] = ()) -> ctypes.CDLL:
    """An OpenSSL that passes the check with known vectors, for SHA-1 and *extra_algorithms*.

    Raises:
        LibraryMissing: There is none; the text says where it was looked for.
    """
    names = [name for name in (SHA1, *extra_algorithms) if name in ALGORITHMS]
    problems = []
    for path in _candidates():
        try:
            library = ctypes.CDLL(path)
            for name in names:
                _verify(name, library)
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


def _verify(name: str, library: ctypes.CDLL) -> None:
    """Check the words against the standard's vector, and a text in two halves against hashlib."""
    algorithm = ALGORITHMS[name]
    whole = OpenSslDigest(algorithm, library)
    whole.update(b"abc" + algorithm.padding(3))
    halves = [bytes(range(256)), bytes(range(255, 0, -1))]
    first = OpenSslDigest(algorithm, library)
    first.update(halves[0])
    second = OpenSslDigest(algorithm, library, first.words())
    second.update(halves[1])
    expected = hashlib.new(name, b"".join(halves), usedforsecurity=False).hexdigest()
    if whole.words().hex() != algorithm.abc or second.finished(511).hex() != expected:
        raise LibraryMissing(f"the state of its {algorithm.prefix} has another layout")
