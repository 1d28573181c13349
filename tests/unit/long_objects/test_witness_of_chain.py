"""S3's checksum of a long object is compared over all slices."""

from __future__ import annotations

import hashlib
import zlib
from base64 import b64encode
from dataclasses import replace
from itertools import pairwise
from typing import Any, Final

import pytest
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


def crc32(data: bytes) -> bytes:
    """CRC-32 in S3's bytes."""
    return zlib.crc32(data).to_bytes(4, "big")


def text(value: bytes) -> str:
    """A value in base64."""
    return b64encode(value).decode()


class KeptChecksum:
    """An S3 that answers with the checksum of *content*, in *parts* or of all of it."""

    def __init__(self, content: bytes, parts: list[int] | None = None, name: str = "crc32") -> None:
        value = crc32(content) if name == "crc32" else hashlib.new(name, content).digest()
        self._headers = {f"x-amz-checksum-{name}": text(value)}
        self._parts: list[dict[str, Any]] = []
        if parts:
            pieces = [content[start:end] for start, end in pairwise(parts)]
            composite = text(crc32(b"".join(map(crc32, pieces))))
            self._headers = {"x-amz-checksum-crc32": f"{composite}-{len(pieces)}"}
            self._parts = [
                {"PartNumber": n, "Size": len(piece), "ChecksumCRC32": text(crc32(piece))}
                for n, piece in enumerate(pieces, 1)
            ]

    def head_object(self, **_: object) -> dict[str, Any]:
        """See S3's HeadObject."""
        return {"ResponseMetadata": {"HTTPStatusCode": 200, "HTTPHeaders": self._headers}}

    def get_object_attributes(self, **_: object) -> dict[str, Any]:
        """See S3's GetObjectAttributes."""
        return {"ObjectParts": {"Parts": self._parts}}


def ended(kept: KeptChecksum) -> tuple[Chain, ObjectCreated, Row]:
    """A chain after its last slice, the object's event and its row."""
    chain = Chain(SLICE_BYTES)
    client: Any = kept
    reader = replace(chain.slicer.reader, checksums=StoredChecksums(lambda: client))
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


def test_a_digest_that_cannot_go_on_is_not_compared() -> None:
    """Hashlib's SHA-256 ends with its process, and the row says so."""
    _, _, row = ended(KeptChecksum(CONTENT, name="sha256"))
    assert row.compared
    assert row.compared.result is ChecksumResult.NOT_COMPARED
    assert "slices" in (row.compared.reason or "")


def test_the_sha1_of_the_whole_object_is_compared() -> None:
    """It is the row's own digest, which goes on from slice to slice."""
    _, _, row = ended(KeptChecksum(CONTENT, name="sha1"))
    assert row.compared
    assert row.compared.result is ChecksumResult.EQUAL


def test_a_verification_compares_it_too() -> None:
    """A row that agrees with the bytes differs if S3's checksum does not."""
    chain, created, row = ended(KeptChecksum(CONTENT))
    client: Any = KeptChecksum(CONTENT[::-1])
    reader = replace(chain.slicer.reader, checksums=StoredChecksums(lambda: client))
    chain.slicer = replace(chain.slicer, reader=reader)
    chain.reports.clear()
    chain.hand_over.begin(Job(created, Verification(row)))
    chain.run()
    assert chain.reports[-1].outcome is Outcome.DIFFERS
    after = chain.recorded(created)
    assert after.difference
    assert after.difference.digest.startswith("crc32:")
    assert after.sha1 == row.sha1
