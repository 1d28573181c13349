"""One slice of an object: chunks → a digest, which ends with a block if others follow."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bucketsum.errors import SourceInterrupted
from bucketsum.long_objects.portable_digest import BLOCK_BYTES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from bucketsum.long_objects.portable_digest import PortableDigest


def hash_slice(
    digest: PortableDigest,
    chunks: Iterable[bytes],
    size_bytes: int,
    slice_bytes: int,
    must_end: Callable[[], bool],
) -> bool:
    """Continue *digest* with *chunks*; returns whether the object of *size_bytes* is at its end.

    If not, `digest.length` is the offset of the next slice, a multiple of `BLOCK_BYTES`. A slice
    has at least one block, so a chain always moves on.

    Args:
        digest: The digest of all bytes before.
        chunks: The rest of the object, in order.
        size_bytes: Size of the whole object.
        slice_bytes: Maximum size of the slice, at least `BLOCK_BYTES`.
        must_end: Whether the time of the slice is over; asked after each chunk has come.

    Raises:
        SourceInterrupted: Another number of bytes came.
    """
    first = digest.length
    limit = first + slice_bytes // BLOCK_BYTES * BLOCK_BYTES
    for chunk in chunks:
        end = digest.length + len(chunk)
        is_over = end > limit or (end < size_bytes and must_end())
        cut = min(end, limit) // BLOCK_BYTES * BLOCK_BYTES
        if is_over and cut > first and cut >= digest.length:
            digest.update(chunk[: cut - digest.length])
            return False
        digest.update(chunk)
    if digest.length != size_bytes:
        raise SourceInterrupted(f"{digest.length} bytes came of an object of {size_bytes}")
    return True
