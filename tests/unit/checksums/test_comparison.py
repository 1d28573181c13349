"""S3's checksums are compared with the bytes, whole and part by part, however they are split."""

import hashlib
import sys
import zlib
from collections.abc import Callable, Sequence
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bucketsum.checksums import running as running_checksums
from bucketsum.checksums.comparison import ChecksumComparison
from bucketsum.checksums.running import Crc, running
from bucketsum.checksums.stored import NotComparedError, StoredChecksum, StoredPart, stored_of
from bucketsum.table.checksum_values import ChecksumResult, Compared

CONTENT = bytes(range(256)) * 8


def bitwise(width: int, reflected_polynomial: int) -> Callable[[bytes], bytes]:
    """A reflected CRC, bit by bit, as its definition has it."""
    mask = (1 << width) - 1

    def crc(data: bytes) -> bytes:
        value = mask
        for byte in data:
            value ^= byte
            for _ in range(8):
                value = (value >> 1) ^ (reflected_polynomial if value & 1 else 0)
        return (value ^ mask).to_bytes(width // 8, "big")

    return crc


ORACLES: dict[str, Callable[[bytes], bytes]] = {
    "crc32": lambda data: zlib.crc32(data).to_bytes(4, "big"),
    "crc32c": bitwise(32, 0x82F63B78),
    "crc64nvme": bitwise(64, 0x9A6C9329AC4BC9B5),
    "sha1": lambda data: hashlib.sha1(data, usedforsecurity=False).digest(),
    "sha256": lambda data: hashlib.sha256(data).digest(),
    "sha512": lambda data: hashlib.sha512(data).digest(),
    "md5": lambda data: hashlib.md5(data, usedforsecurity=False).digest(),
}
algorithms = st.sampled_from([*ORACLES])
splits = st.lists(st.integers(0, len(CONTENT)), max_size=6).map(
    lambda places: sorted({0, *places, len(CONTENT)})
)


def pieces(places: Sequence[int], content: bytes = CONTENT) -> list[bytes]:
    """*content* between the *places*."""
    return [content[start:end] for start, end in pairwise(places)]


def composite(algorithm: str, parts: Sequence[bytes]) -> tuple[StoredChecksum, list[StoredPart]]:
    """The checksum that S3 keeps of an upload in *parts*; part numbers may have gaps."""
    oracle = ORACLES[algorithm]
    values = [oracle(part) for part in parts]
    listed = [
        StoredPart(2 * n + 1, len(part), value)
        for n, (part, value) in enumerate(zip(parts, values, strict=True))
    ]
    return StoredChecksum(algorithm, oracle(b"".join(values)), len(parts)), listed


def compared_with(
    stored: StoredChecksum, chunks: Sequence[bytes], parts: Sequence[StoredPart] = ()
) -> Compared:
    """The comparison of *chunks*, of an object of their size."""
    comparison = ChecksumComparison(stored, sum(map(len, chunks)), parts)
    for chunk in chunks:
        comparison.update(chunk)
    return comparison.compared({})


@given(algorithms, splits)
def test_any_split_gives_the_checksum_of_the_whole(algorithm: str, places: Sequence[int]) -> None:
    """A full-object checksum is equal for the object's bytes, and differs for others."""
    stored = StoredChecksum(algorithm, ORACLES[algorithm](CONTENT))
    for content in (CONTENT, CONTENT[:-1] + b"\0"):
        compared = compared_with(stored, pieces(places, content))
        is_same = content == CONTENT
        assert compared.result is (ChecksumResult.EQUAL if is_same else ChecksumResult.DIFFERS)
        assert compared.checksum == str(stored)


@given(algorithms, splits, splits, st.integers(0, len(CONTENT) - 1))
def test_the_part_that_differs_is_named(
    algorithm: str, part_places: Sequence[int], places: Sequence[int], changed: int
) -> None:
    """With any parts, chunks and changed byte, exactly the part with that byte is named."""
    stored, parts = composite(algorithm, pieces(part_places))
    intact = compared_with(stored, pieces(places), parts)
    assert intact == Compared(ChecksumResult.EQUAL, str(stored))

    rotten = bytearray(CONTENT)
    rotten[changed] ^= 1
    compared = compared_with(stored, pieces(places, bytes(rotten)), parts)
    number = sum(place <= changed for place in part_places) * 2 - 1
    assert compared.result is ChecksumResult.DIFFERS
    assert compared.reason
    assert compared.reason.startswith(f"part {number} has {algorithm}:")


def test_parts_whose_checksums_are_not_those_of_the_object_differ() -> None:
    """If every part is equal, the composite checksum must be that of the parts' values."""
    _, parts = composite("crc32", [b"a", b"b"])
    compared = compared_with(StoredChecksum("crc32", b"\0\0\0\0", 2), [b"ab"], parts)
    assert compared.result is ChecksumResult.DIFFERS
    assert (compared.reason or "").startswith("its parts have ")


@pytest.mark.parametrize("content", [b"", b"a", b"abc"])
def test_other_lengths_than_the_parts_are_not_compared(content: bytes) -> None:
    """Bytes that end before the last part, or go on after it, are never equal."""
    stored, parts = composite("crc32", [b"a", b"b"])
    whole = StoredChecksum("crc32", ORACLES["crc32"](b"ab"))
    for comparison in (ChecksumComparison(stored, 2, parts), ChecksumComparison(whole, 2)):
        comparison.update(content)
        assert comparison.compared({}).result is ChecksumResult.NOT_COMPARED


def test_an_empty_object_has_a_checksum() -> None:
    """No bytes are compared as any others."""
    stored = stored_of("crc64nvme", "AAAAAAAAAAA=")
    assert compared_with(stored, []).result is ChecksumResult.EQUAL
    assert compared_with(stored_of("crc32", "AAAAAQ=="), []).result is ChecksumResult.DIFFERS


def test_xxhash_is_not_compared() -> None:
    """The text says why an algorithm of S3 is left out."""
    with pytest.raises(NotComparedError, match="xxhash64 is not computed"):
        ChecksumComparison(StoredChecksum("xxhash64", b"\0" * 8), 1)


@given(st.sampled_from(["crc32", "crc32c", "crc64nvme"]), st.integers(0, len(CONTENT)))
def test_a_crc_continues_from_its_value(algorithm: str, place: int) -> None:
    """A CRC that another process began gives that of the whole."""
    begun = running(algorithm)
    begun.update(CONTENT[:place])
    continued = Crc(algorithm, begun.digest())
    continued.update(memoryview(CONTENT)[place:])
    assert continued.digest() == ORACLES[algorithm](CONTENT)


@pytest.mark.parametrize(
    ("algorithm", "value"),
    [("crc32", "cbf43926"), ("crc32c", "e3069283"), ("crc64nvme", "ae8b14860a799888")],
)
def test_check_values(algorithm: str, value: str) -> None:
    """The catalogue's values for ``123456789``; AWS documents that of CRC-64/NVME."""
    assert ORACLES[algorithm](b"123456789").hex() == value


CRCS = st.sampled_from(["crc32", "crc32c", "crc64nvme"])


@given(
    CRCS,
    st.none() | splits,
    st.integers(0, len(CONTENT)),
    st.sampled_from([CONTENT, CONTENT[::-1]]),
)
def test_a_comparison_continues_in_another_process(
    algorithm: str, part_places: Sequence[int] | None, place: int, content: bytes
) -> None:
    """A comparison that is saved at any byte ends as one that was never saved."""
    stored, parts = composite(algorithm, pieces(part_places or ()))
    if part_places is None:
        stored, parts = StoredChecksum(algorithm, ORACLES[algorithm](CONTENT)), []
    chunks = [content[:place], content[place:]]
    begun = ChecksumComparison(stored, len(CONTENT), parts)
    begun.update(chunks[0])
    continued = ChecksumComparison(stored, len(CONTENT), parts)
    continued.resume(begun.saved() or "")
    continued.update(chunks[1])
    assert continued.compared({}) == compared_with(stored, chunks, parts)


@pytest.mark.parametrize(
    "state",
    [
        "", "[]", "[" * 100_000, '["a",0,"","",""]', '[9,5,"00","00",""]', '[0,-1,"00","00",""]',
        '[-1,0,"00","00",""]', '[-9,0,"00","00",""]', '[0,1e999,"00","00",""]',
        '[0,2,"0102030405","00",""]',
    ],
)  # fmt: skip
@pytest.mark.parametrize("algorithm", ["crc32", "sha256"])
def test_a_damaged_state_is_named(state: str, algorithm: str) -> None:
    """A state that is not one of the comparison is not continued."""
    stored, parts = composite(algorithm, [b"12", b"34"])
    comparison = ChecksumComparison(stored, 4, parts)
    with pytest.raises(NotComparedError, match="saved state"):
        comparison.resume(state)


@pytest.mark.parametrize("before", [(), ("crc32",)])
@pytest.mark.parametrize("after", [(), ("crc32",)])
def test_a_comparison_outlives_a_change_of_the_algorithms(
    before: Sequence[str], after: Sequence[str]
) -> None:
    """The digests of a long object are those that it began with."""
    stored = StoredChecksum("crc32", ORACLES["crc32"](CONTENT))
    begun = ChecksumComparison(stored, len(CONTENT), computed=before)
    begun.update(CONTENT[:100])
    continued = ChecksumComparison(stored, len(CONTENT), computed=after)
    continued.resume(begun.saved() or "")
    continued.update(CONTENT[100:])
    digests = {name: ORACLES[name](CONTENT).hex() for name in before}
    assert continued.compared(digests).result is ChecksumResult.EQUAL
    expected = ChecksumResult.NOT_COMPARED if before else ChecksumResult.EQUAL
    assert continued.compared({}).result is expected


def test_a_digest_is_not_saved() -> None:
    """Hashlib's digests do not continue from a value."""
    assert ChecksumComparison(StoredChecksum("sha256", b"0" * 32), 4).saved() is None


@given(st.binary(max_size=40))
def test_a_digest_that_is_computed_anyway_is_not_computed_twice(content: bytes) -> None:
    """S3's SHA-1 of the whole object is compared with the one in the row."""
    stored = StoredChecksum("sha1", ORACLES["sha1"](b"x"))
    comparison = ChecksumComparison(stored, len(content), computed=("sha1",))
    comparison.update(b"not looked at")
    compared = comparison.compared({"sha1": ORACLES["sha1"](content).hex()})
    assert compared.result is (ChecksumResult.EQUAL if content == b"x" else ChecksumResult.DIFFERS)


def test_a_layer_without_the_wheel_compares_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """An object is hashed all the same: what cannot be imported is a reason, not an error."""
    monkeypatch.setitem(sys.modules, "anycrc", None)
    uncached = vars(running_checksums)["_calculation"].__wrapped__
    monkeypatch.setattr(running_checksums, "_calculation", uncached)
    with pytest.raises(NotComparedError, match="the layer has no wheel for crc64nvme"):
        ChecksumComparison(stored_of("crc64nvme", "AAAAAAAAAAA="), 1)
