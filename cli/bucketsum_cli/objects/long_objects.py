"""Long objects in progress, as text and as JSON."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Final

from bucketsum.errors import DamagedItem
from bucketsum.long_objects.progress import ChainStatus, Progress
from bucketsum_cli.aws.stack import Stack
from bucketsum_cli.terminal.documents import Moment, document_of
from bucketsum_cli.terminal.formatting import duration_text, size_text

DAMAGED: Final = "damaged"


@dataclass(frozen=True, slots=True)
class LongObject:
    """A long object that is being hashed in slices, or was stopped."""

    bucket: str
    key: str
    slices_status: Annotated[str, "`running`, `stopped`, or `damaged` by another program."]
    reason: str | None
    version: str | None = None
    etag: str | None = None
    size_bytes: int | None = None
    bytes_done: Annotated[int | None, "Bytes that are hashed and saved."] = None
    slices_done: Annotated[int | None, "Number of slices that have ended."] = None
    mb_per_s: float | None = None
    seconds_left: Annotated[int | None, "Time for the rest, at the last slice's speed."] = None
    created_at: Moment | None = None
    started_at: Annotated[Moment | None, "When it was started."] = None
    updated_at: Annotated[Moment | None, "When its last slice ended."] = None


def in_progress(stack: Stack, key: str) -> tuple[list[Progress], list[DamagedItem]]:
    """The versions of *key* that are being hashed in slices, or were stopped; and damaged ones."""
    whole: list[Progress] = []
    damaged: list[DamagedItem] = []
    name = f"{stack.bucket}/{key}"
    for item in stack.progress_table().in_progress():
        if isinstance(item, DamagedItem):
            if item.name == name:
                damaged.append(item)
        elif f"{item.bucket}/{item.key}" == name:
            whole.append(item)
    return whole, damaged


def progress_text(item: LongObject) -> str:
    """The progress, as ``312.0 GB of 5.0 TB, 78 MB/s, done in about 16 h 41 min``."""
    if item.bytes_done is None or item.size_bytes is None:
        return f"damaged: {item.reason}"
    done = f"{size_text(item.bytes_done)} of {size_text(item.size_bytes)}"
    if item.slices_status == ChainStatus.STOPPED:
        reason = item.reason or ""
        return f"{done}, {reason}" if reason.startswith("stopped") else f"{done}, stopped: {reason}"
    if item.mb_per_s is None or item.seconds_left is None:
        return f"{done}, the first slice has not ended"
    return f"{done}, {item.mb_per_s:.0f} MB/s, done in about {duration_text(item.seconds_left)}"


def long_object(progress: Progress | DamagedItem) -> LongObject:
    """Return *progress* as a document."""
    if isinstance(progress, DamagedItem):
        bucket, _, key = progress.name.partition("/")
        return LongObject(bucket, key, DAMAGED, str(progress))
    left = progress.seconds_left if progress.status is ChainStatus.RUNNING else None
    return document_of(
        LongObject,
        progress,
        slices_status=progress.status,
        bytes_done=progress.offset,
        slices_done=progress.hop,
        seconds_left=None if left is None else round(left),
        created_at=progress.arrived_at,
    )
