"""Planted bugs of the comparison with S3's own checksum."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final

from bucketsum.checksums.comparison import ChecksumComparison
from bucketsum.checksums.stored import StoredPart, parts_in
from bucketsum.s3 import stored_checksums
from bucketsum.table.checksum_values import ChecksumResult, Compared
from bucketsum.table.rows import Row


def _skipped(comparison: ChecksumComparison, _: object) -> Compared:
    return Compared(ChecksumResult.EQUAL, str(comparison.checksum))


def _neighbours(*args: Any) -> Sequence[StoredPart]:  # noqa: ANN401 - as the product's
    parts = parts_in(*args)
    return [replace(part, value=parts[place - 1].value) for place, part in enumerate(parts)]


def _uncompared(row: Row, before: Compared | None) -> Row:
    return replace(row, compared=Compared(ChecksumResult.NOT_COMPARED)) if before else row


WITNESS_BUGS: Final = (
    ("S3's checksum is not compared", ChecksumComparison, "compared", _skipped),
    ("a part is compared with its neighbour's checksum", stored_checksums, "parts_in", _neighbours),
    ("a second comparison is lost, and ends a difference", Row, "compared_as", _uncompared),
)
