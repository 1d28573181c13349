"""Checksum headers and lists of parts: as S3 writes them, or named and not compared."""

from base64 import b64encode
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bucketsum.checksums.stored import (
    VALUE_BYTES,
    NotComparedError,
    StoredChecksum,
    StoredPart,
    parts_in,
    stored_in,
)

CRC32 = "q83vEg=="
COMPOSITE = StoredChecksum("crc32", bytes.fromhex("abcdef12"), 2)


def header(algorithm: str, value: str, kind: str | None = None) -> dict[str, str]:
    """The headers of a response with a checksum."""
    types = {"x-amz-checksum-type": kind} if kind else {}
    return {"etag": '"x"', f"x-amz-checksum-{algorithm}": value, **types}


@given(
    st.sampled_from([*VALUE_BYTES]),
    st.binary(min_size=64, max_size=64),
    st.none() | st.integers(1, 10_000),
)
def test_headers_of_s3_are_read(algorithm: str, value: bytes, parts: int | None) -> None:
    """Value, number of parts and type are read, and written again as S3 has them."""
    value = value[: VALUE_BYTES[algorithm]]
    text = b64encode(value).decode() + (f"-{parts}" if parts else "")
    expected = StoredChecksum(algorithm, value, parts)
    for kind in ("COMPOSITE" if parts else "FULL_OBJECT", None):
        assert stored_in(header(algorithm, text, kind)) == expected
    assert str(expected) == f"{algorithm}:{text}"


def test_an_object_without_a_checksum_has_none() -> None:
    """A response without one, or with the type alone, is not a checksum and no problem."""
    assert stored_in({"etag": '"x"', "x-amz-checksum-type": "FULL_OBJECT"}) is None


@pytest.mark.parametrize(
    ("headers", "reason"),
    [
        (header("crc32", CRC32) | header("crc32c", CRC32), "S3 sent 2 checksums"),
        (header("crc32", "q83v"), "has 3 bytes, not 4"),
        (header("crc64nvme", CRC32), "has 4 bytes, not 8"),
        (header("crc32", "q83vEg"), "not base64"),
        (header("crc32", "q83v=Eg="), "not base64"),
        (header("crc32", ""), "not base64"),
        (header("crc32", "A" * 10_000), "not base64"),
        (header("crc32", f"{CRC32}-0"), "not base64"),
        (header("crc32", f"{CRC32}-٣"), "not base64"),
        (header("crc32", f"{CRC32}-10001"), "10,001 parts"),
        (header("crc32", f"{CRC32}-99999999999999999999"), "not base64"),
        (header("crc32", CRC32, "COMPOSITE"), "its type"),
        (header("crc32", f"{CRC32}-2", "FULL_OBJECT"), "its type"),
        (header("crc32", CRC32, "partial"), "its type"),
        (header("crc128", CRC32), "is not known"),
    ],
)
def test_hostile_headers_are_named(headers: dict[str, str], reason: str) -> None:
    """A header that S3 does not write is not compared, and the text says what came."""
    with pytest.raises(NotComparedError, match=reason):
        stored_in(headers)


@given(st.text(max_size=40), st.text(max_size=20), st.none() | st.text(max_size=12))
def test_no_header_ends_a_reading(algorithm: str, value: str, kind: str | None) -> None:
    """Any header is a checksum or a reason."""
    try:
        stored = stored_in(header(algorithm, value, kind))
    except NotComparedError:
        return
    assert stored is None or stored.algorithm in VALUE_BYTES


def page(*parts: dict[str, Any]) -> dict[str, Any]:
    """One output of GetObjectAttributes."""
    return {"ObjectParts": {"Parts": [*parts]}}


def part(number: object = 1, size: object = 5, value: object = CRC32) -> dict[str, Any]:
    """A part, as botocore gives it."""
    return {"PartNumber": number, "Size": size, "ChecksumCRC32": value}


def test_parts_are_read_from_all_pages() -> None:
    """Parts of several pages are one list; their numbers may have gaps."""
    pages = [page(part(1, 5)), page(part(7, 3))]
    value = COMPOSITE.value
    assert parts_in(pages, COMPOSITE, 8) == [StoredPart(1, 5, value), StoredPart(7, 3, value)]


@pytest.mark.parametrize(
    ("pages", "reason"),
    [
        ([], "lists 0 parts"),
        ([{}], "lists 0 parts"),
        ([page(part())], "lists 1 parts"),
        ([page(part(1), part(2), part(3))], "lists 3 parts"),
        ([page(part(1), part(1))], "lists 2 parts"),
        ([page(part(2), part(1))], "lists 2 parts"),
        ([page(part(1, 5), part(2, 4))], "not the object's size"),
        ([page(part(1, 0), part(2, 8))], "of 0 bytes"),
        ([page(part(1, -3), part(2, 11))], "of -3 bytes"),
        ([page(part("1"), part(2))], "a part '1'"),
        ([page(part(1, None), part(2))], "of None bytes"),
        ([page(part(1, 5, None), part(2, 3))], "no checksums of the object's parts"),
        ([page(part(1, 5, "q83v"), part(2, 3))], "has 3 bytes, not 4"),
        ([page(*(part(n) for n in range(1, 10_002)))], "more than 10,000 parts"),
    ],
)
def test_hostile_lists_of_parts_are_named(pages: list[dict[str, Any]], reason: str) -> None:
    """Parts that do not add up to the object are not compared."""
    with pytest.raises(NotComparedError, match=reason):
        parts_in(pages, COMPOSITE, 8)


@given(
    st.lists(
        st.dictionaries(
            st.sampled_from(["PartNumber", "Size", "ChecksumCRC32", "ChecksumSHA1"]),
            st.none() | st.booleans() | st.integers(-1, 9) | st.text(max_size=9) | st.just(CRC32),
        ),
        max_size=4,
    )
)
def test_no_list_of_parts_ends_a_reading(listed: list[dict[str, Any]]) -> None:
    """Any list is that of the object's parts, or a reason."""
    try:
        parts = parts_in([page(*listed)], COMPOSITE, 8)
    except NotComparedError:
        return
    assert sum(part.size_bytes for part in parts) == 8
