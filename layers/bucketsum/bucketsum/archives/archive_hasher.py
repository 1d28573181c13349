"""An archive that arrived → its digest, a row for each member, and what became of them."""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bucketsum.archives.decoders import METHODS
from bucketsum.archives.member_rows import member_entry
from bucketsum.archives.pace import Pace
from bucketsum.clock import now
from bucketsum.digest import RunningDigest
from bucketsum.digests_table import ArchiveRecord, MemberRecord, Row, Status, row_key_of
from bucketsum.s3.range_reads import range_reader

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

    from mypy_boto3_s3 import S3Client

    from bucketsum.archives.member_rows import MemberRows
    from bucketsum.archives.reader import ArchiveReader, ArchiveSummary, MemberResult
    from bucketsum.digest import Digest
    from bucketsum.notifications import ObjectCreated


@dataclass(frozen=True, slots=True)
class ArchiveHasher:
    """Hashes archives and all that is in them.

    Attributes:
        reader: How.
        s3: Reads their central directories.
        rows: Where members are recorded.
        extra_algorithms: Digests of the archive besides SHA-1.
    """

    reader: ArchiveReader
    s3: S3Client
    rows: MemberRows
    extra_algorithms: tuple[str, ...] = ()

    def takes(self, arrival: ObjectCreated) -> bool:
        """Whether *arrival* is to be treated as an archive."""
        return self.reader.takes(arrival.key)

    def hash(
        self,
        arrival: ObjectCreated,
        chunks: Generator[bytes],
        remaining_seconds: Callable[[], float],
    ) -> tuple[Digest, ArchiveSummary]:
        """Read the directory, then all of *chunks* once; members' rows are written meanwhile.

        When this returns all of them are in the table. The archive's own row is not: it is to be
        written after them, so that a row of an archive means that its members' are there.

        Raises:
            RetryLater: It could not be read to its end, or DynamoDB is too busy.
            NotHashed: It is gone, superseded or not readable.
            ClientError: DynamoDB refused.
        """
        digest = RunningDigest(self.extra_algorithms)
        pace = Pace(arrival.size_bytes, remaining_seconds)
        with closing(chunks), self.rows.writer() as writer:
            contents = self.reader.read(
                range_reader(self.s3, arrival),
                arrival.size_bytes,
                pace.counting(chunks),
                digest,
                lambda member: writer.put(member_row(arrival, member)),
                pace.allows_members,
            )
        return digest.digest(), contents


def archive_record(summary: ArchiveSummary) -> ArchiveRecord:
    """The part of a row that records *summary*."""
    return ArchiveRecord(
        status=summary.status,
        mode=summary.mode,
        reason=summary.reason,
        members=summary.members,
        unreadable=summary.unreadable,
        directories=summary.directories,
        member_bytes=summary.member_bytes,
        ratio=summary.ratio,
    )


def member_row(arrival: ObjectCreated, found: MemberResult) -> Row:
    """The row of a member of the archive *arrival*."""
    place = row_key_of(arrival)
    member = found.digest.member
    remarks = found.remarks
    if found.inside:
        remarks += found.inside.remarks
    return Row(
        bucket=place.bucket,
        key=place.key,
        entry=member_entry(place.entry, found.path),
        status=Status.HASHED if found.digest.sha1 else Status.UNREADABLE,
        size_bytes=found.digest.size_bytes,
        sequencer=arrival.sequencer,
        arrived_at=arrival.event_time,
        recorded_at=now(),
        sha1=found.digest.sha1,
        reason=found.digest.reason,
        member=MemberRecord(
            path=found.path,
            method=METHODS.get(member.method, str(member.method)),
            crc32=f"{member.crc32:08x}",
            compressed_bytes=member.compressed_bytes,
        ),
        remarks=remarks,
        archive=archive_record(found.inside) if found.inside else None,
    )
