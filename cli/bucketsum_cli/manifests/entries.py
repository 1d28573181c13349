"""Entries of manifests, and the digests in them."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final, NamedTuple

from bucketsum.algorithms import ALGORITHMS
from bucketsum_cli.terminal.errors import CannotDoError
from bucketsum_cli.terminal.hints import command_line

_DIGITS: Final = {
    **{algorithm.hex_digits: name for name, algorithm in ALGORITHMS.items()},
    56: "sha224",
    96: "sha384",
}
_HEXADECIMAL: Final = re.compile(r"[0-9a-f]{8,}")
_BASE64: Final = re.compile(r"[\w+/-]{22,}=+", re.ASCII)
_SHOWN_CHARACTERS: Final = 80
_HERE: Final = b"./"
NOT_UTF_8: Final = "its name is not UTF-8, which a key must be"
NO_NAME: Final = "it has no name"


@dataclass(frozen=True, slots=True)
class Reported:
    """The object version that a report of S3 names; version and entity tag are empty if not."""

    bucket: str
    version: str
    etag: str = ""


class Entry(NamedTuple):
    """A name with its digests.

    Attributes:
        name: Its exact bytes, which need not be UTF-8; empty in a list of digests alone.
        digests: Algorithm → lower-case hexadecimal digits; see `algorithm_called`.
        size_bytes: None in formats without sizes.
        line: The number of its line; 0 if it was not read from a manifest.
        reported: Its object, if the list is a report of S3.
        checksum: S3's own checksum, and whether the bytes have it; written, and never read.
    """

    name: bytes
    digests: Mapping[str, str]
    size_bytes: int | None = None
    line: int = 0
    reported: Reported | None = None
    checksum: tuple[str, str] = ("", "")


@dataclass(frozen=True, slots=True)
class BadLine:
    """A line that is not an entry; or, when writing, an entry that the format has no line for."""

    line: int
    reason: str

    @classmethod
    def of(cls, line: int, reason: str, content: bytes) -> BadLine:
        """A line that is not what *reason* says, with its beginning."""
        shown = content.decode("utf-8", "backslashreplace")[:_SHOWN_CHARACTERS]
        return cls(line, f"line {line} is not {reason}: {shown}")


def without_names(file: str) -> CannotDoError:
    """The error that the list *file* has digests alone, where names are needed."""
    find = command_line("find", "--list", file)
    return CannotDoError(
        f"{file} has digests without names, as after a digest, or in a column key, name, filename, "
        f"file, filepath or path; `{find}` looks for digests alone"
    )


def by_name(entries: Iterable[Entry]) -> tuple[list[Entry], int]:
    """The *entries*, and the number of lines that repeat a name without a contradiction.

    These are one entry with the digests of all its lines.
    """
    unique: dict[tuple[bytes, int], Entry] = {}
    repeated = 0
    for entry in entries:
        first = unique.setdefault((entry.name, 0), entry)
        if first is entry:
            continue
        sizes = {first.size_bytes, entry.size_bytes} - {None}
        if {**first.digests, **entry.digests} == {**entry.digests, **first.digests} and len(
            sizes
        ) <= 1:
            repeated += 1
            digests, size = {**first.digests, **entry.digests}, next(iter(sizes), None)
            unique[entry.name, 0] = first._replace(digests=digests, size_bytes=size)
        else:
            unique[entry.name, entry.line] = entry
    return [*unique.values()], repeated


def algorithm_called(name: str) -> str:
    """The algorithm that a program calls *name*: ``sha256`` for SHA256, SHA-256 and SHA2-256."""
    return name.lower().replace("sha2-", "sha").replace("sha-", "sha")


def is_told_by_digits(algorithm: str) -> bool:
    """Whether a digest without a name is of *algorithm* if it has as many digits."""
    return algorithm in _DIGITS.values()


def digests_of(text: str, algorithm: str | None = None) -> dict[str, str] | None:
    """The digest in *text*, hexadecimal or base64; None if it is none of *algorithm*.

    Without an algorithm, the number of digits tells it.
    """
    digits = text.lower()
    if _BASE64.fullmatch(text):
        try:
            digits = base64.b64decode(text.replace("-", "+").replace("_", "/"), validate=True).hex()
        except binascii.Error:
            return None
    if not _HEXADECIMAL.fullmatch(digits):
        return None
    counted = _DIGITS.get(len(digits))
    if algorithm in (None, counted):
        return {counted: digits} if counted else None
    return None if is_told_by_digits(str(algorithm)) else {str(algorithm): digits}


def as_name(path: bytes) -> bytes:
    """The name in *path*, as `sha1sum ./a` or `find` print it, without one ``./`` in front.

    Nothing else is left out: ``a/./b``, ``a//b`` and ``a/../b`` are other keys than ``a/b``.
    """
    return path.removeprefix(_HERE)


def as_path(name: bytes) -> bytes:
    """The inverse of `as_name`; a program that opens the path stays in its folder."""
    return _HERE + name if name.startswith((_HERE, b"/")) or name == b"-" else name
