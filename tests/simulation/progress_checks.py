"""The promises about progress items: no byte is skipped or hashed twice."""

import hashlib
from collections.abc import Iterator, Mapping
from typing import Any

from tests.simulation.s3_model import EPOCH, S3

from bucketsum.algorithms import SHA1
from bucketsum.long_objects.openssl_digest import library_for
from bucketsum.long_objects.portable_digest import BLOCK_BYTES, PortableDigest
from bucketsum.long_objects.progress import PARTITION, Progress, progress_in


def is_progress(item: Mapping[str, Any]) -> bool:
    """Whether *item* is that of a long object."""
    return bool(item) and item["object"]["S"] == PARTITION


def check_progress(
    before: Mapping[str, Any] | None, item: Mapping[str, Any] | None, s3: S3
) -> Iterator[str]:
    """Problems of a write of a progress item."""
    now = EPOCH + s3.schedule.now
    if item is None:
        return
    progress = progress_in(item)
    name = f"{progress.key} {progress.version}"
    contents = [
        content or b""
        for version in s3.history[progress.key, progress.version]
        if version.etag == progress.etag
        for content in (version.content, version.rotten or version.content)
    ]
    if not contents:
        yield f"slices of {name}, which was never put"
        return
    if "expires_at" not in item:
        yield f"the progress of {name} would stay for ever"
    if progress.hop > -(-len(contents[0]) // BLOCK_BYTES):
        yield f"{name} has more slices than blocks"
    earlier = progress_in(before) if before else None
    if (
        earlier
        and earlier.etag == progress.etag
        and progress.offset < earlier.offset
        and progress.differing == earlier.differing  # else another reading begins
    ):
        yield f"the slices of {name} go back"
    if earlier and now < earlier.leased_until < progress.leased_until:
        yield f"two workers are at one slice of {name}"
    begun = (_is_begun(content[: progress.offset], progress) for content in contents)
    if progress.offset and not any(begun):
        yield f"the slices of {name} skipped or repeated bytes"


def _is_begun(content: bytes, progress: Progress) -> bool:
    """Whether *progress* has the digest's state after *content*."""
    states = {SHA1.name: progress.states[SHA1.name]}
    hashed = PortableDigest(library_for(()), (), states).digest()
    return hashed.sha1 == hashlib.sha1(content, usedforsecurity=False).hexdigest()
