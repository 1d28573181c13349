"""A row of the digests table as a JSON document."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Annotated, Any

from bucketsum.table.codec import attributes_of
from bucketsum.table.rows import Row, Status
from bucketsum.table.state import ObjectState, state_of
from bucketsum_cli.objects.row_names import version_of
from bucketsum_cli.terminal.documents import Moment


@dataclass(frozen=True, slots=True)
class RecordedRow:
    """A row of the table: a version of an object, or a member of an archive."""

    bucket: Annotated[str, "Name of the bucket."]
    key: Annotated[str, "Object key."]
    version: Annotated[str, "Version ID, or the text `null` if the bucket has no versions."]
    status: Annotated[
        str,
        "`hashed`, `unreadable`, `archived` or `damaged`; in lists the state, or `not hashed yet`, "
        "`needs a backfill` or `not covered`.",
    ]
    state: Annotated[str, f"{', '.join(f'`{state}`' for state in ObjectState)}."]
    size_bytes: Annotated[int | None, "Size."] = None
    etag: Annotated[str | None, "Entity tag, without quotes."] = None
    sha1: Annotated[str | None, "SHA-1, 40 hexadecimal digits."] = None
    digests: Annotated[Mapping[str, str], "Further digests by algorithm."] = field(
        default_factory=dict
    )
    reason: Annotated[str | None, "Why something failed, or has no digest."] = None
    storage_class: Annotated[str | None, "Of an archived object."] = None
    mb_per_s: Annotated[float | None, "Speed of hashing, in 10⁶ bytes per second."] = None
    duration_ms: Annotated[float | None, "Time of reading and hashing."] = None
    chunk_bytes: Annotated[int | None, "Bytes that were passed to SHA-1 at a time."] = None
    streams: Annotated[int | None, "Connections that the object was read with."] = None
    memory_mb: Annotated[int | None, "`MemorySize` of the hashing function."] = None
    created_at: Annotated[Moment | None, "When S3 created the object."] = None
    recorded_at: Annotated[Moment | None, "When the row was written."] = None
    deleted_at: Annotated[Moment | None, "When S3 deleted this version."] = None
    deleted_by: Annotated[str | None, "`request` or `lifecycle`."] = None
    expires_at: Annotated[Moment | None, "When the row is removed."] = None
    sequencer: Annotated[
        str | None, "Of the object's event; sequencers order the events of a key."
    ] = None
    deletion_sequencer: Annotated[str | None, "That of the deletion's event."] = None
    verified_at: Annotated[Moment | None, "When its digests were last verified."] = None
    verifications: Annotated[int | None, "How often they were."] = None
    differing_digest: Annotated[
        str | None, "Algorithm and digest that were read twice instead of the recorded one."
    ] = None
    differs_at: Annotated[Moment | None, "When they were."] = None
    unreadable_at: Annotated[
        Moment | None, "Since when verifications cannot read it, if it has a digest."
    ] = None
    unreadable_reason: Annotated[str | None, "Why they cannot."] = None
    s3_checksum: Annotated[
        str | None, "S3's own checksum: algorithm, `:`, value in base64; with `-N`, of N parts."
    ] = None
    s3_checksum_result: Annotated[str | None, "`equal`, `differs` or `not compared`."] = None
    s3_checksum_reason: Annotated[str | None, "The value as read, or why nothing was compared."] = (
        None
    )
    read_by_job: Annotated[str | None, "The job of S3 that read it; null if a function did."] = None
    read_by_s3_at: Annotated[Moment | None, "When the report of that job was made."] = None
    member: Annotated[str | None, "Path in the archive."] = None
    method: Annotated[str | None, "Compression method."] = None
    crc32: Annotated[str | None, "CRC-32, 8 hexadecimal digits."] = None
    compressed_bytes: Annotated[int | None, "Size in the archive."] = None
    remarks: Annotated[tuple[str, ...], "Oddities of a member's name, or of an archive."] = ()
    archive_status: Annotated[str | None, "Result for the members of an archive."] = None
    archive_mode: Annotated[str | None, "How the archive was read."] = None
    archive_reason: Annotated[str | None, "Why not all members were read."] = None
    member_count: Annotated[int | None, "Number of members."] = None
    members_unreadable: Annotated[int | None, "Members without a digest."] = None
    directory_count: Annotated[int | None, "Number of folders that the members are in."] = None
    member_bytes: Annotated[int | None, "Total size of the members."] = None
    ratio: Annotated[float | None, "Their total size divided by the archive's."] = None


def recorded_row(row: Row, state: ObjectState | None = None) -> RecordedRow:
    """Return *row* as a document; by default, its *state* is what it says by itself."""
    name = (row.bucket, row.key, version_of(row), row.status.value, state or state_of(row))
    if row.status is Status.DAMAGED:
        return RecordedRow(*name, reason=row.reason)
    values: dict[str, Any] = dict(attributes_of(row))
    del values["status"]
    expires_at = values.pop("expires_at")
    values |= {
        "digests": row.digests,
        "remarks": row.remarks,
        "created_at": values.pop("arrived_at"),
        "expires_at": expires_at and datetime.fromtimestamp(expires_at, UTC),
    }
    return RecordedRow(*name, **values)
