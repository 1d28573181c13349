"""S3's checksum of a long object is compared over all slices."""

import hashlib
from dataclasses import replace
from itertools import pairwise
from typing import Any, Final

import pytest
from botocore.exceptions import ClientError
from tests.support.checksums import Kept, base64_of
from tests.unit.long_objects.chain import Chain

from bucketsum.events.object_events import ObjectCreated
from bucketsum.hashing.job import Job
from bucketsum.hashing.verification import Verification
from bucketsum.s3.stored_checksums import StoredChecksums
from bucketsum.table.checksum_values import ChecksumResult
from bucketsum.table.outcome import Outcome
from bucketsum.table.rows import Row

CONTENT: Final = bytes(range(256)) * 20 + b"the end"
SLICE_BYTES: Final = 1024
SLICES: Final = -(-len(CONTENT) // SLICE_BYTES)
PARTS: Final = [0, 1500, 1501, 4000, len(CONTENT)]
"""Where parts begin and end: not where slices do."""


class KeptChecksum:
    """An S3 that answers with the checksum of *content*, in *parts* or of all of it."""

    def __init__(self, content: bytes, parts: list[int] | None = None, name: str = "crc32") -> None:
        pieces = [content[start:end] for start, end in pairwise(parts or (0, len(content)))]
        kept = Kept(pieces)
        self._headers, self._parts = kept.headers, kept.parts
        self.answers = -1
        """Number of HEADs that it answers, until it refuses."""
        if name != "crc32":
            value = base64_of(hashlib.new(name, content).digest())
            self._headers = {f"x-amz-checksum-{name}": value}

    def head_object(self, **_: object) -> dict[str, Any]:
        """See S3's HeadObject."""
        if not self.answers:
            raise ClientError({"Error": {"Code": "SlowDown"}}, "HeadObject")
        self.answers -= 1
        return {"ResponseMetadata": {"HTTPStatusCode": 200, "HTTPHeaders": self._headers}}

    def get_object_attributes(self, **_: object) -> dict[str, Any]:
        """See S3's GetObjectAttributes."""
        return {"ObjectParts": {"Parts": self._parts}}


def ended(kept: KeptChecksum) -> tuple[Chain, ObjectCreated, Row]:
    """A chain after its last slice, the object's event and its row."""
    chain = Chain(SLICE_BYTES)
    client: Any = kept
    reader = replace(chain.slicer.reader, checksums=StoredChecksums(client))
    chain.slicer = replace(chain.slicer, reader=reader)
    created = chain.put(CONTENT)
    chain.arrive(created)
    chain.run()
    return chain, created, chain.recorded(created)


@pytest.mark.parametrize("parts", [None, PARTS], ids=["whole", "parts"])
def test_an_equal_checksum_goes_on_from_slice_to_slice(parts: list[int] | None) -> None:
    """One reading suffices, and the row says that S3's checksum is equal."""
    chain, _, row = ended(KeptChecksum(CONTENT, parts))
    assert row.compared
    assert (row.compared.result, row.compared.reason) == (ChecksumResult.EQUAL, None)
    assert [report.outcome for report in chain.reports[-1:]] == [Outcome.HASHED]
    assert len(chain.reports) == SLICES


@pytest.mark.parametrize(
    ("parts", "reason"), [(None, "crc32:"), (PARTS, "part 2 has crc32:")], ids=["whole", "parts"]
)
def test_a_difference_is_read_twice(parts: list[int] | None, reason: str) -> None:
    """All slices are read again; then the row has both values, and it differs."""
    other = CONTENT[:1500] + b"?" + CONTENT[1501:]
    chain, _, row = ended(KeptChecksum(other, parts))
    assert row.sha1 == hashlib.sha1(CONTENT).hexdigest()
    assert row.compared
    assert row.compared.result is ChecksumResult.DIFFERS
    assert (row.compared.reason or "").startswith(reason)
    assert chain.reports[-1].outcome is Outcome.DIFFERS
    assert len(chain.reports) == 2 * SLICES


def test_a_difference_outlives_a_reading_that_is_not_compared() -> None:
    """The second reading has the same bytes, so S3's checksum is still another."""
    kept = KeptChecksum(CONTENT[::-1])
    kept.answers = SLICES
    chain, _, row = ended(kept)
    assert row.compared
    assert row.compared.result is ChecksumResult.DIFFERS
    assert (row.compared.reason or "").startswith("crc32:")
    assert chain.reports[-1].outcome is Outcome.DIFFERS
    assert len(chain.reports) == 2 * SLICES


@pytest.mark.parametrize(
    ("name", "answers", "reason"), [("crc32", 2, "SlowDown"), ("sha256", -1, "slices")]
)
def test_the_reason_of_one_slice_is_that_of_the_object(
    name: str, answers: int, reason: str
) -> None:
    """After a refusal S3 is not asked again; hashlib's SHA-256 ends with its process."""
    kept = KeptChecksum(CONTENT, name=name)
    kept.answers = answers
    _, _, row = ended(kept)
    assert row.compared
    assert row.compared.result is ChecksumResult.NOT_COMPARED
    assert reason in (row.compared.reason or "")


def test_the_sha1_of_the_whole_object_is_compared() -> None:
    """It is the row's own digest, which goes on from slice to slice."""
    _, _, row = ended(KeptChecksum(CONTENT, name="sha1"))
    assert row.compared
    assert row.compared.result is ChecksumResult.EQUAL


def test_a_verification_compares_it_too() -> None:
    """A row that agrees with the bytes differs if S3's checksum does not."""
    chain, created, row = ended(KeptChecksum(CONTENT))
    client: Any = KeptChecksum(CONTENT[::-1])
    reader = replace(chain.slicer.reader, checksums=StoredChecksums(client))
    chain.slicer = replace(chain.slicer, reader=reader)
    chain.reports.clear()
    chain.hand_over.begin(Job(created, Verification(row)))
    chain.run()
    assert chain.reports[-1].outcome is Outcome.DIFFERS
    after = chain.recorded(created)
    assert after.difference
    assert after.difference.digest.startswith("crc32:")
    assert after.sha1 == row.sha1
