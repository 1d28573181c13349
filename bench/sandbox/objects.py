"""Generated objects with the same bytes in every run, and their SHA-1."""

import os
import random
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from bucketsum.digest import RunningDigest

BUCKET: Final = "bench"
COMPARED: Final = "compared/"
"""How the second key of each object begins, with which it has a checksum of S3."""
_BLOCK_BYTES: Final = 1_000_000


@dataclass(frozen=True, slots=True)
class StoredObject:
    """An object in `BUCKET` with a known digest."""

    key: str
    size_bytes: int
    sha1: str


def random_chunks(size_bytes: int, seed: int = 0) -> Iterator[bytes]:
    """Incompressible content; no two blocks are equal."""
    block = random.Random(seed).randbytes(_BLOCK_BYTES)  # noqa: S311 - not a secret
    for offset in range(0, size_bytes, _BLOCK_BYTES):
        length = min(_BLOCK_BYTES, size_bytes - offset)
        yield (offset.to_bytes(8, "big") + block[8:])[:length]


def make_object(root: Path, size_bytes: int, name: str = "", seed: int = 0) -> StoredObject:
    """Create the object under *root*, a folder of buckets, unless it exists.

    Objects of the same size differ by *seed*.
    """
    key = name or f"{size_bytes}.bin"
    path = root / BUCKET / key
    known = root / "sha1" / f"{key}-{size_bytes}-{seed}"
    if not (known.exists() and path.exists() and path.stat().st_size == size_bytes):
        path.parent.mkdir(parents=True, exist_ok=True)
        known.parent.mkdir(parents=True, exist_ok=True)
        unfinished = root / f"{path.name}.{os.getpid()}"  # another run may be making it, too
        sha1 = written(unfinished, random_chunks(size_bytes, seed))
        unfinished.replace(path)
        known.write_text(sha1)
    return StoredObject(key, size_bytes, known.read_text())


def written(path: Path, parts: Iterable[bytes]) -> str:
    """Write *parts* to *path*; returns their SHA-1."""
    path.parent.mkdir(parents=True, exist_ok=True)
    digest = RunningDigest()
    with path.open("wb") as file:
        file.writelines(digest.passing(parts))
    return digest.digest().sha1
