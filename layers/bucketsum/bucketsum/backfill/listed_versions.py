"""Versions that a run listed, each in 8 bytes: their rows are accounted for without a request.

The last bits of a version's hash give way to its storage class, and to whether it is the latest.
"""

from __future__ import annotations

from array import array
from collections import defaultdict
from collections.abc import Iterable
from functools import partial
from typing import Final, NamedTuple

from bucketsum.backfill.counts import version_hash
from bucketsum.events.object_events import ObjectCreated
from bucketsum.table.rows import Row

SHARE_PAGES: Final = 5_000
"""Pages that an invocation keeps, in some 90 MB; of more, each reads a share of the rows."""
SHARES_MAX: Final = 40
"""Beyond them, reading the table once for each costs as much as a HEAD of each version."""

_CLASSES: Final = (
    "", "STANDARD", "STANDARD_IA", "ONEZONE_IA", "INTELLIGENT_TIERING", "GLACIER_IR", "GLACIER",
    "DEEP_ARCHIVE", "REDUCED_REDUNDANCY", "EXPRESS_ONEZONE", "OUTPOSTS", "SNOW", "FSX_OPENZFS",
    "FSX_ONTAP",
)  # fmt: skip
"""By their number in the bits; the first is of classes that are not known here."""
_CLASS_BITS: Final = 15
_LATEST_BIT: Final = 16
_FACTS: Final = _CLASS_BITS | _LATEST_BIT
_SLOT_SHIFT: Final = 48


class ListedVersion(NamedTuple):
    """A version as S3 listed it."""

    storage_class: str
    is_latest: bool


def packed(versions: Iterable[tuple[ObjectCreated, ListedVersion]]) -> bytes:
    """The *versions* of a page, 8 bytes for each."""
    numbers = array("Q")
    for listed, (name, is_latest) in versions:
        facts = _CLASSES.index(name) if name in _CLASSES else 0
        number = _number_of(listed.bucket, listed.key, listed.version_id, listed.etag)
        numbers.append(number | facts | _LATEST_BIT * is_latest)
    return numbers.tobytes()


class ListedVersions:
    """The versions that a run listed, or a share of them.

    Attributes:
        whole: Buckets whose listing is whole: a row that is not in it is asked about.
    """

    def __init__(self, share: int = 0, shares: int = 1) -> None:
        self.share, self._shares = share, shares
        self.whole: set[str] = set()
        self._slots: defaultdict[int, array[int]] = defaultdict(partial(array, "Q"))

    def add(self, page: bytes) -> None:
        """Add the versions of a page; raises ValueError if it is not of `packed`."""
        for number in filter(self._has, array("Q", page)):
            self._slots[number >> _SLOT_SHIFT].append(number)

    def has_share_of(self, row: Row) -> bool:
        """Whether *row* is among those whose versions are here."""
        if self._shares == 1:  # as nearly always: a hash of each row less
            return True
        return self._has(_number_of(row.bucket, row.key, row.version.id, row.etag))

    def of(self, row: Row) -> ListedVersion | None:
        """The version of *row*; None if it was not listed, or with another entity tag."""
        number = _number_of(row.bucket, row.key, row.version.id, row.etag)
        for listed in self._slots.get(number >> _SLOT_SHIFT, ()):
            if listed & ~_FACTS == number:
                names = _CLASSES[listed & _CLASS_BITS :]  # none if somebody changed the number
                return ListedVersion(names[0] if names else "", bool(listed & _LATEST_BIT))
        return None

    def _has(self, number: int) -> bool:
        return (number >> _SLOT_SHIFT) % self._shares == self.share


def _number_of(bucket: str, key: str, version_id: str | None, etag: str | None) -> int:
    return version_hash(f"{bucket}/{key}", version_id, etag) & ~_FACTS
