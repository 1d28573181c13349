"""Long objects in progress, as text and as JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bucketsum.long_objects.progress import ChainStatus, Progress
from bucketsum_cli.terminal.formatting import duration_text
from bucketsum_cli.terminal.output import iso_text, size_text

if TYPE_CHECKING:
    from collections.abc import Iterable

    from bucketsum_cli.aws.stack import Stack


def in_progress(stack: Stack, key: str) -> list[Progress]:
    """The versions of *key* that are being hashed in slices, or were stopped.

    Raises:
        BotoCoreError, ClientError: AWS cannot be reached, or refused.
    """
    everything = stack.progress_table().in_progress()
    return [progress for progress in everything if (progress.bucket, progress.key) == (
        stack.bucket, key
    )]  # fmt: skip


def progress_text(progress: Progress) -> str:
    """The progress, as ``312.0 GB of 5.0 TB, 78 MB/s, done in about 16 h 41 min``."""
    done = f"{size_text(progress.offset)} of {size_text(progress.size_bytes)}"
    if progress.status is ChainStatus.STOPPED:
        return f"{done}, stopped: {progress.reason}"
    if progress.mb_per_s is None or progress.seconds_left is None:
        return f"{done}, the first slice has not ended"
    left = duration_text(progress.seconds_left)
    return f"{done}, {progress.mb_per_s:.0f} MB/s, done in about {left}"


def _as_json(progress: Progress) -> dict[str, Any]:
    left = progress.seconds_left if progress.status is ChainStatus.RUNNING else None
    return {
        "bucket": progress.bucket,
        "key": progress.key,
        "version": progress.version,
        "etag": progress.etag,
        "size_bytes": progress.size_bytes,
        "bytes_done": progress.offset,
        "slices_done": progress.hop,
        "slices_status": progress.status,
        "mb_per_s": progress.mb_per_s,
        "seconds_left": None if left is None else round(left),
        "reason": progress.reason,
        "created_at": iso_text(progress.arrived_at),
        "started_at": iso_text(progress.started_at),
        "updated_at": iso_text(progress.updated_at),
    }


def all_as_json(items: Iterable[Progress]) -> list[dict[str, Any]]:
    """Each of *items* under the names of docs/json.md."""
    return [*map(_as_json, items)]
