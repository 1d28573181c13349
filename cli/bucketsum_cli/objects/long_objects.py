"""Long objects in progress, as text and as JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from bucketsum.errors import DamagedItem
from bucketsum.long_objects.progress import ChainStatus, Progress
from bucketsum_cli.terminal.formatting import duration_text
from bucketsum_cli.terminal.output import iso_text, size_text

if TYPE_CHECKING:
    from collections.abc import Iterable

    from bucketsum_cli.aws.stack import Stack


def in_progress(stack: Stack, key: str) -> tuple[list[Progress], list[DamagedItem]]:
    """The versions of *key* that are being hashed in slices, or were stopped; and damaged ones.

    Raises:
        BotoCoreError, ClientError: AWS cannot be reached, or refused.
    """
    name = f"{stack.bucket}/{key}"
    every = [each for each in stack.progress_table().in_progress() if name_of(each) == name]
    damaged = [each for each in every if isinstance(each, DamagedItem)]
    return [each for each in every if isinstance(each, Progress)], damaged


def name_of(progress: Progress | DamagedItem) -> str:
    """The object, as ``bucket/key``."""
    if isinstance(progress, DamagedItem):
        return progress.name
    return f"{progress.bucket}/{progress.key}"


def progress_text(progress: Progress | DamagedItem) -> str:
    """The progress, as ``312.0 GB of 5.0 TB, 78 MB/s, done in about 16 h 41 min``."""
    if isinstance(progress, DamagedItem):
        return f"damaged: {progress}"
    done = f"{size_text(progress.offset)} of {size_text(progress.size_bytes)}"
    if progress.status is ChainStatus.STOPPED:
        return f"{done}, stopped: {progress.reason}"
    if progress.mb_per_s is None or progress.seconds_left is None:
        return f"{done}, the first slice has not ended"
    left = duration_text(progress.seconds_left)
    return f"{done}, {progress.mb_per_s:.0f} MB/s, done in about {left}"


def _as_json(progress: Progress | DamagedItem) -> dict[str, Any]:
    if isinstance(progress, DamagedItem):
        bucket, _, key = progress.name.partition("/")
        unknown = dict.fromkeys(_as_json(_NOTHING))
        damage = {"slices_status": "damaged", "reason": str(progress)}
        return unknown | {"bucket": bucket, "key": key} | damage
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


_NOTHING: Final = Progress("", "", "", "", 0, "", "", "", "")


def all_as_json(items: Iterable[Progress | DamagedItem]) -> list[dict[str, Any]]:
    """Each of *items* under the names of docs/json.md."""
    return [*map(_as_json, items)]
