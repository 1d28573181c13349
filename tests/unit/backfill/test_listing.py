"""Ranges of keys divide wide and flat buckets evenly."""

from __future__ import annotations

import hashlib
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import replace
from types import SimpleNamespace
from typing import Any, Final

import pytest
from botocore.exceptions import ClientError

from bucketsum.backfill import listing
from bucketsum.backfill.backfill_records import Backfill, BackfillStatus, Part
from bucketsum.backfill.listing import page_of_keys, ranges_of_keys
from bucketsum.backfill.selection import is_read, is_sampled, is_selected
from bucketsum.errors import SourceUnavailable

BACKFILL: Final = Backfill("id", "photos", BackfillStatus.RUNNING, "2026-11-21")
COUNT: Final = 200  # parts, at a BackfillConcurrency of 1,000


class FlatS3:
    """The listing of some keys without versions, as S3 pages it."""

    def __init__(self, keys: list[str]) -> None:
        self._keys = sorted(keys, key=str.encode)
        self.requests = 0

    def get_paginator(self, _operation: str) -> FlatS3:
        """This object: it pages by itself."""
        return self

    def paginate(self, Bucket: str, Prefix: str, Delimiter: str) -> Iterator[dict[str, Any]]:  # noqa: N803 - as boto3 has it
        """Yield every page."""
        marker = ""
        while True:
            page = self.list_object_versions(Bucket, Prefix, Delimiter, marker)
            yield page
            if not page["IsTruncated"]:
                return
            marker = page["NextKeyMarker"]

    def list_object_versions(
        self,
        Bucket: str,  # noqa: ARG002, N803 - as boto3 has it
        Prefix: str,  # noqa: N803 - as boto3 has it
        Delimiter: str = "",  # noqa: N803 - as boto3 has it
        KeyMarker: str = "",  # noqa: N803 - as boto3 has it
        MaxKeys: int = 1000,  # noqa: N803 - as boto3 has it
    ) -> dict[str, Any]:
        """One page of keys, and of the folders that end at the delimiter."""
        self.requests += 1
        entries: list[str] = []
        place = bisect_right(self._keys, KeyMarker.encode(), key=str.encode)
        for key in self._keys[place:]:
            if not key.startswith(Prefix) or (
                Delimiter and KeyMarker and key.startswith(KeyMarker)
            ):
                continue
            rest, end, _ = key[len(Prefix) :].partition(Delimiter or "\0")
            entry = Prefix + rest + end
            if entries[-1:] == [entry]:
                continue
            if len(entries) == MaxKeys:
                break
            entries.append(entry)
        else:
            return self._page(entries, is_truncated=False)
        return self._page(entries, is_truncated=True)

    def _page(self, entries: list[str], *, is_truncated: bool) -> dict[str, Any]:
        folders = [{"Prefix": entry} for entry in entries if entry.endswith("/")]
        keys = [{"Key": entry} for entry in entries if not entry.endswith("/")]
        page: dict[str, Any] = {"CommonPrefixes": folders, "Versions": keys}
        return page | {"IsTruncated": is_truncated, "NextKeyMarker": entries[-1] if entries else ""}


def largest_share(keys: list[str], s3: FlatS3) -> float:
    """Keys of the largest part ÷ the keys that each would have; each key is in one part."""
    client: Any = s3
    parts = ranges_of_keys(client, BACKFILL.bucket, "", COUNT)
    assert len(parts) <= COUNT
    of_parts = [
        [key for key in keys if part.after < key and (part.until is None or key <= part.until)]
        for part in parts
    ]
    assert sorted(key for part in of_parts for key in part) == sorted(keys)
    return max(map(len, of_parts)) / (len(keys) / len(parts))


FLAT: Final = [hashlib.md5(f"{n}".encode()).hexdigest() for n in range(10_000)]


@pytest.mark.parametrize(
    "keys",
    [
        [f"2026/day-{folder:04}/{n}" for folder in range(1_500) for n in range(3)],
        FLAT,
        [f"object-{n:05}" for n in range(10_000)],
        [*(f"folder-{n:03}/x" for n in range(250)), *(f"loose-{n:04}" for n in range(1_200))],
    ],
    ids=["wide", "flat", "numbered", "mixed"],
)
def test_no_part_has_more_than_twice_its_share(keys: list[str]) -> None:
    """Neither many folders, nor loose keys, nor both leave one enqueuer with the work."""
    assert largest_share(keys, FlatS3(keys)) <= 2


def test_a_level_too_large_to_list_is_divided_by_beginnings(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A request for each two characters that begin keys, instead of one for each 1,000 keys."""
    monkeypatch.setattr(listing, "_LOOK_PAGES", 2)
    s3 = FlatS3(FLAT)
    assert largest_share(FLAT, s3) <= 2.5
    assert s3.requests < 300


def test_a_marker_that_s3_refuses_leaves_one_part(monkeypatch: pytest.MonkeyPatch) -> None:
    """It ends in a noncharacter, of which AWS does not say whether S3 takes it."""
    s3: Any = FlatS3(FLAT)
    page_of = s3.list_object_versions

    def page(*positional: str, **request: Any) -> Any:  # noqa: ANN401 - as botocore's
        if request.get("KeyMarker", "").endswith("\U0010ffff"):
            answer: Any = {"Error": {}, "ResponseMetadata": {"HTTPStatusCode": 400}}
            raise ClientError(answer, "ListObjectVersions")
        return page_of(*positional, **request)

    monkeypatch.setattr(listing, "_LOOK_PAGES", 2)
    monkeypatch.setattr(s3, "list_object_versions", page)
    assert ranges_of_keys(s3, BACKFILL.bucket, "", 8) == [Part(0)]


@pytest.mark.parametrize("marker", ["", "a", "b"])
def test_a_list_that_does_not_go_on_is_an_error(marker: str) -> None:
    """An enqueuer would queue the same page for ever: S3 says that more follows, but not where."""
    s3: Any = SimpleNamespace(
        list_object_versions=lambda **_: {"IsTruncated": True, "NextKeyMarker": marker}
    )
    with pytest.raises(SourceUnavailable, match="after 'b'"):
        page_of_keys(s3, BACKFILL, Part(0, after="b"))


@pytest.mark.parametrize("share", [0.01, 0.3, 1.0])
def test_a_sample_is_the_same_share_of_the_keys_each_time(share: float) -> None:
    """A daily verification of one percent reads the same objects, and no others by chance."""
    keys = [f"{number}/é" for number in range(5000)]
    sample = replace(BACKFILL, sample=share)
    larger = replace(BACKFILL, sample=min(1.0, share * 2))
    sampled = [key for key in keys if is_sampled(sample, key)]
    assert len(sampled) == pytest.approx(share * len(keys), rel=0.3)
    assert all(is_sampled(larger, key) for key in sampled)
    assert all(is_sampled(BACKFILL, key) for key in keys)


@pytest.mark.parametrize(
    ("backfill", "classes"),
    [
        (BACKFILL, {"STANDARD", "STANDARD_IA"}),
        (replace(BACKFILL, archived=True), {"STANDARD", "STANDARD_IA", "GLACIER"}),
        (replace(BACKFILL, storage_classes=("STANDARD", "GLACIER")), {"STANDARD"}),
    ],
)
def test_only_the_wanted_storage_classes_are_read(backfill: Backfill, classes: set[str]) -> None:
    """A class whose reading costs is never read by surprise, and an archived one cannot be."""
    known = ("STANDARD", "STANDARD_IA", "GLACIER")
    assert {
        name for name in known if is_selected(backfill, name) and is_read(backfill, name)
    } == classes
