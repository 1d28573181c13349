"""A new archive → its digest, a row for each member, and a summary of them."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import closing
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

from bucketsum.archives.archive_reader import Archive, ArchiveReader
from bucketsum.archives.decoders import method_name
from bucketsum.archives.member_rows import MemberRows, member_entry
from bucketsum.archives.zip_model import MemberResult
from bucketsum.clock import now
from bucketsum.digest import Digest, RunningDigest
from bucketsum.events.object_events import ObjectCreated
from bucketsum.invocation.deadline import GuardedChunks
from bucketsum.s3.range_reads import range_reader
from bucketsum.settings import Settings
from bucketsum.table.archive_settings import ArchiveSettings
from bucketsum.table.row_parts import MemberRecord
from bucketsum.table.rows import Row, Status, row_key_of

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient
    from mypy_boto3_s3 import S3Client


@dataclass(frozen=True, slots=True)
class ArchiveHasher:
    """Hashes archives and their members.

    Attributes:
        s3: Reads their central directories.
    """

    reader: ArchiveReader
    s3: S3Client
    rows: MemberRows

    @classmethod
    def of(
        cls, archives: ArchiveSettings, s3: S3Client, dynamodb: DynamoDBClient, settings: Settings
    ) -> Self:
        """A hasher with the settings *archives*."""
        rows = MemberRows(dynamodb, settings.digests_table, is_indexed=settings.has_sha1_index)
        return cls(ArchiveReader(archives), s3, rows)

    def open(self, created: ObjectCreated) -> Archive:
        """The archive of *created*; `hash` reads it."""
        return self.reader.open(range_reader(self.s3, created), created.size_bytes)

    def hash(
        self,
        archive: Archive,
        created: ObjectCreated,
        chunks: GuardedChunks,
        extra_algorithms: Iterable[str],
    ) -> Digest:
        """Read all of *chunks* once; members' rows are written meanwhile.

        When this returns, all of them are in the table. The archive's own row is to be written
        after them, so that a row of an archive means that its members' rows are there.

        Raises:
            Retryable: It could not be read to its end, or DynamoDB is too busy.
            NotHashed: It is gone, superseded or not readable.
            ClientError: DynamoDB refused.
        """
        digest = RunningDigest(extra_algorithms)
        with (
            self.rows.writer() as writer,
            closing(archive.members(chunks, digest, chunks.allow_members)) as members,
        ):
            for member in members:
                writer.put(member_row(created, member))
        return digest.digest()


def member_row(created: ObjectCreated, result: MemberResult) -> Row:
    """The row of a member of the archive *created*."""
    row_key = row_key_of(created)
    member = result.digest.member
    remarks = result.remarks
    if result.inside:
        remarks += result.inside.remarks
    return Row(
        bucket=row_key.bucket,
        key=row_key.key,
        entry=member_entry(row_key.entry, created.sequencer, result.path),
        status=Status.HASHED if result.digest.sha1 else Status.UNREADABLE,
        size_bytes=result.digest.size_bytes,
        sequencer=created.sequencer,
        arrived_at=created.event_time,
        recorded_at=now(),
        sha1=result.digest.sha1,
        reason=result.digest.reason,
        member=MemberRecord(
            path=result.path,
            method=method_name(member.method),
            crc32=f"{member.crc32:08x}",
            compressed_bytes=member.compressed_bytes,
        ),
        remarks=remarks,
        archive=result.inside,
    )
