"""Objects that a sweep reads: planned, generated, and the files of data sets."""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from math import ceil
from typing import TYPE_CHECKING, Final

from bucketsum.table.archive_settings import STORAGE_MIB_MAX

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
    from pathlib import Path

PART_BYTES: Final = 16 * 1024 * 1024
"""[A] S3 takes at most 10,000 parts: up to 167 GB."""

_READ_BYTES: Final = 256 * 1024
_MIB: Final = 1024 * 1024


def disk_refusal(reason: str, needed_bytes: float, storage_mb: int) -> str | None:
    """*reason* as a whole sentence if a prober with *storage_mb* MiB of /tmp lacks room."""
    needed_mb = ceil(needed_bytes / _MIB)
    if needed_mb <= storage_mb:
        return None
    sentence = f"{reason} needs {needed_mb} MB of /tmp, the prober has {storage_mb}"
    if needed_mb > STORAGE_MIB_MAX:
        return f"{sentence} and can have {STORAGE_MIB_MAX} at most"
    return f"{sentence}: deploy with EphemeralStorageSize={needed_mb} or more"


def whole_in(metadata: Mapping[str, str], name: str) -> int | None:
    """The whole number in an object's metadata; None if there is none."""
    text = metadata.get(name, "")
    return int(text) if text.isascii() and text.isdigit() else None


@dataclass(frozen=True, slots=True)
class PlannedObject:
    """An object that the sweep reads."""

    key: str
    size_bytes: int
    generated: bool
    """Whether the sweep generates it if it is not there yet."""
    parts: tuple[str, ...] | None = None
    """The parts of a data set that the sweep's settings read; None for all, or for no set."""


@dataclass(frozen=True, slots=True)
class Generated:
    """The content of an object that a sweep generates."""

    chunks: Callable[[], Iterable[bytes]]
    """Its bytes in pieces of any size, from the first on, whenever it is called."""
    metadata: Mapping[str, str] = field(default_factory=dict)
    """Facts about its content, besides its SHA-1."""


@dataclass(frozen=True, slots=True)
class DataFile:
    """A file of a data set, which lies beside the set's main object."""

    name: str
    """Its key without the prefix of the set."""
    size_bytes: int
    chunks: Callable[[], Iterable[bytes]]
    """As those of `Generated`."""

    @property
    def part(self) -> str:
        """The part of the data set that it belongs to: its folder, or the file alone."""
        return self.name.rpartition("/")[0] or self.name


def file_key(key: str, name: str) -> str:
    """The key of the file *name* of the data set whose main object is at *key*.

    ``objects/9.jsonl`` and ``a.jp2`` give ``objects/9/a.jp2``.
    """
    folder, separator, last = key.rpartition("/")
    return f"{folder}{separator}{last.rpartition('.')[0] or last}/{name}"


def content(size_bytes: int) -> Iterator[bytes]:
    """Random bytes; no compression makes them smaller."""
    for number in range(-(-size_bytes // PART_BYTES)):
        length = min(PART_BYTES, size_bytes - number * PART_BYTES)
        yield random.Random(number).randbytes(length)  # noqa: S311 - not a secret


def chunks_of(path: Path) -> Generator[bytes]:
    """The bytes of a file."""
    with path.open("rb", buffering=0) as file:
        while chunk := file.read(_READ_BYTES):
            yield chunk
