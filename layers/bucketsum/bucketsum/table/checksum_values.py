"""S3's own checksum of an object in a row, and whether the bytes have it."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

from bucketsum.table.stored_fields import stored


class ChecksumResult(StrEnum):
    """Whether S3's checksum is that of the bytes that were read."""

    EQUAL = "equal"
    DIFFERS = "differs"
    NOT_COMPARED = "not compared"


@dataclass(frozen=True, slots=True)
class Compared:
    """A comparison with S3's checksum.

    Attributes:
        checksum: Algorithm and value as S3 has them, ``crc32:q83vEg==``, with ``-N`` if it is that
            of N parts; None if S3 keeps none, or did not send it.
        reason: The value as read, and of which part; or why nothing was compared.
    """

    result: ChecksumResult = field(metadata=stored("s3_checksum_result", read=ChecksumResult))
    checksum: str | None = field(default=None, metadata=stored("s3_checksum"))
    reason: str | None = field(default=None, metadata=stored("s3_checksum_reason"))
