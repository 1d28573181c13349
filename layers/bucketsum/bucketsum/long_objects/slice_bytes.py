"""One slice of an object: chunks → a digest; every slice but the last ends at a block boundary."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from bucketsum.algorithms import SHA1
from bucketsum.errors import BadSettings, DamagedProgress, SourceInterrupted
from bucketsum.events.message_fields import shown
from bucketsum.long_objects.openssl_digest import library_for
from bucketsum.long_objects.portable_digest import BLOCK_BYTES, PortableDigest
from bucketsum.long_objects.progress import Progress


def slice_bytes_in(env: Mapping[str, str]) -> int | None:
    """Maximum size of a slice by the variable `SLICE_BYTES`; None if it is not set.

    Raises:
        BadSettings: It is not a whole number, or less than a block.
    """
    text = env.get("SLICE_BYTES", "")
    if not text:
        return None
    if not (text.isascii() and text.isdigit() and int(text) >= BLOCK_BYTES):
        raise BadSettings(f"SLICE_BYTES is {text!r}, not a whole number from {BLOCK_BYTES} on")
    return int(text)


def digest_at(progress: Progress, extra_algorithms: Iterable[str]) -> PortableDigest:
    """The digest at the offset of *progress*, with the algorithms that it began with.

    At the beginning, these are SHA-1 and *extra_algorithms*.

    Raises:
        DamagedProgress: Its states are not of this offset. A state of the right form and length is
            believed: who can write the table can make a wrong digest.
        LibraryMissing: This runtime cannot continue it.
    """
    if not progress.offset:
        extra = tuple(extra_algorithms)
        return PortableDigest(library_for(extra), extra)
    extra = tuple(name for name in progress.states if name != SHA1.name)
    try:
        digest = PortableDigest(library_for(extra), extra, progress.states)
    except (KeyError, ValueError) as error:
        raise DamagedProgress(
            f"the saved state of {shown(progress.key)} is damaged: {shown(str(error))}"
        ) from error
    if digest.length != progress.offset:
        raise DamagedProgress(
            f"the saved state of {shown(progress.key)} is of offset {digest.length}, not "
            f"{progress.offset}"
        )
    return digest


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
        chunks: The rest of the object.
        size_bytes: Size of the whole object.
        slice_bytes: Maximum size of the slice, at least `BLOCK_BYTES`.
        must_end: Whether the time of the slice is over; asked after each chunk has come.

    Raises:
        SourceInterrupted: S3 sends another number of bytes than the object's rest has.
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
        raise SourceInterrupted(f"{digest.length} bytes were received of an object of {size_bytes}")
    return True
