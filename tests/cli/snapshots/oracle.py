"""The answer to each question, computed by plain Python from the items themselves."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

from tests.cli.snapshots.hostile_rows import Hostile

from bucketsum.archives.member_rows import MEMBER_MARK, archive_entry
from bucketsum.errors import DamagedRow
from bucketsum.long_objects.progress import PARTITION
from bucketsum.prices import STORED_BYTE_MONTH
from bucketsum.table.items import deletion_of, row_key_in, sequencer_in, shown_rows
from bucketsum.table.rows import Row, Status
from bucketsum.table.state import ObjectState, Presence, is_repaired, state_of
from bucketsum_cli.snapshots.folder import Listed

Place = tuple[str, str, str]


class Oracle:
    """The answers for a snapshot of these items that lists these keys."""

    def __init__(self, hostile: Hostile, listed: Sequence[Listed]) -> None:
        self.items = [item for item in hostile.items if item["object"]["S"] != PARTITION]
        self.listed = listed
        self.marks = hostile.marks
        self.listing: dict[Place, dict[str, Any]] = {
            (v["bucket"], v["key"] + mark, v["version"]): v
            for v in hostile.listing
            if self._covers(v["bucket"], v["key"])
            for mark in self.marks
        }
        keys = [(row_key_in(item), _sequencer_in(item)) for item in self.items]
        self._sequencers = {
            (at.bucket, at.key + mark, at.entry): sequencer
            for at, sequencer in keys
            for mark in self.marks
        }
        read = list(shown_rows(self.items))
        rows = [replace(row, key=row.key + mark) for row in read for mark in self.marks]
        self.objects = {place_of(row): row for row in rows if MEMBER_MARK not in row.entry}
        self.members = [row for row in rows if MEMBER_MARK in row.entry]

    def _covers(self, bucket: str, key: str) -> bool:
        return any(bucket == part.bucket and key.startswith(part.prefix) for part in self.listed)

    def _sequencer(self, row: Row) -> str:
        return self._sequencers[place_of(row)]

    def entry_of(self, row: Row) -> dict[str, Any] | None:
        """S3's entry of the object with *row*, if it lists it."""
        entry = self.listing.get(place_of(row))
        is_same = entry and row.deletion is None and row.is_of(entry["etag"])
        return entry if is_same else None

    def is_present(self, row: Row) -> bool:
        """Whether the object exists, as far as is known."""
        if self._covers(row.bucket, row.key):
            return self.entry_of(row) is not None
        return row.deletion is None

    def presence(self, row: Row) -> Presence:
        """The version of *row* in the listing."""
        if not self._covers(row.bucket, row.key):
            return Presence.UNKNOWN
        if place_of(row) not in self.listing:
            return Presence.ABSENT
        return Presence.LISTED if self.entry_of(row) else Presence.CHANGED

    @cached_property
    def states(self) -> dict[Place, ObjectState]:
        """Bucket, key and version → state of each row of an object."""
        keys: defaultdict[tuple[str, str], list[Row]] = defaultdict(list)
        for row in self.objects.values():
            if self.is_present(row):
                keys[row.bucket, row.key].append(row)
        return {
            place: state_of(row, self.presence(row), is_repaired=is_repaired(row, keys[place[:2]]))
            for place, row in self.objects.items()
        }

    def is_hashed(self, row: Row) -> bool:
        """Whether the recorded digest is that of the object, as far as is known."""
        return self.states[place_of(row)] is ObjectState.HASHED

    def deletions(self) -> Counter[tuple[str, ...]]:
        """Deletions of rows and tombstones that are not damaged."""
        got: Counter[tuple[str, ...]] = Counter()
        whole = {place for place, row in self.objects.items() if row.status is not Status.DAMAGED}
        for item in self.items:
            at = row_key_in(item)
            is_row = item.get("status") != {"S": "not_hashed"}
            place = (at.bucket, at.key + self.marks[0], at.entry)
            if MEMBER_MARK in at.entry or (is_row and place not in whole):
                continue
            try:
                deletion = deletion_of(item)
            except DamagedRow:
                continue
            if deletion:
                for mark in self.marks:
                    got[at.bucket, at.key + mark, at.entry, deletion.by] += 1
        return got

    @cached_property
    def current(self) -> dict[tuple[str, str], tuple[str, Row | None, int]]:
        """Bucket and key → version, row and size of what a GET returns."""
        got: dict[tuple[str, str], tuple[str, Row | None, int]] = {}
        by_age = sorted(
            self.objects.values(),
            key=lambda r: (r.status is Status.DAMAGED, self._sequencer(r), r.arrived_at, r.entry),
        )
        for row in by_age:
            if not self._covers(row.bucket, row.key) and row.deletion is None:
                got[row.bucket, row.key] = (row.entry, row, row.size_bytes)
        for place, entry in self.listing.items():
            if entry["latest"]:
                recorded = self.objects.get(place)
                known = recorded if recorded and self.entry_of(recorded) else None
                got[place[:2]] = (place[2], known, entry["size_bytes"])
        return got

    def archived(self) -> Iterator[tuple[Row, str]]:
        """Members of archives that have a row, with the deletions of these, and their states."""
        for row in self.members:
            archive = self.objects.get((row.bucket, row.key, archive_entry(row.entry)))
            if archive:
                is_same = self._sequencer(archive) == self._sequencer(row) != ""
                is_same |= not archive.version.is_null
                state: str = self.states[place_of(archive)]
                if state == ObjectState.HASHED:
                    state = row.status if is_same else ObjectState.LOST
                yield replace(row, deletion=archive.deletion if is_same else None), state

    def duplicates(self, least_bytes: int, *, with_members: bool) -> dict[str, tuple[Any, ...]]:
        """SHA-1 → copies, wasted bytes and dollars of each group."""
        groups: defaultdict[str, list[tuple[Row, float | None]]] = defaultdict(list)
        for row in self.objects.values():
            if self.is_hashed(row):
                entry = self.entry_of(row)
                price = STORED_BYTE_MONTH[entry["storage_class"] if entry else "STANDARD"].each
                groups[row.sha1 or ""].append((row, price * row.size_bytes))
        for row, state in self.archived() if with_members else ():
            if state == ObjectState.HASHED:
                groups[row.sha1 or ""].append((row, None))
        got = {}
        for sha1, copies in groups.items():
            size = copies[0][0].size_bytes
            usd = [price for _, price in copies if price is not None]
            if len(copies) > 1 and size >= least_bytes:
                wasted = size * max(len(usd) - 1, 0)
                got[sha1] = (len(copies), wasted, round(sum(usd) - max(usd, default=0), 18))
        return got

    def coverage(self) -> Counter[tuple[Any, ...]]:
        """Bucket, folder, storage class and state → objects."""
        got: Counter[tuple[Any, ...]] = Counter()
        for place, entry in self.listing.items():
            recorded = self.objects.get(place)
            known = recorded if recorded and self.entry_of(recorded) else None
            state = self.states[place_of(known)] if known else ObjectState.NOT_RECORDED
            got[place[0], folder_of(place[1]), entry["storage_class"], state] += 1
        for row in self.objects.values():
            state = self.states[place_of(row)]
            is_absent = self._covers(row.bucket, row.key) and not self.entry_of(row)
            if is_absent and state in (ObjectState.LOST, ObjectState.DAMAGED):
                got[row.bucket, folder_of(row.key), row.storage_class, state] += 1
        return got

    def find(self, digests: Iterable[str]) -> Counter[tuple[Any, ...]]:
        """Each digest with each object and member that has it; once alone without any."""
        places: defaultdict[str, list[tuple[Any, ...]]] = defaultdict(list)
        for row in (*self.objects.values(), *(row for row, _ in self.archived())):
            if row.status is Status.HASHED:
                deleted = row.deletion is not None
                checksum = (row.member.crc32,) if row.member and "crc32" not in row.digests else ()
                for digest in (row.sha1, *row.digests.values(), *checksum):
                    places[digest or ""].append((row.bucket, row.key, row.entry, deleted))
        got: Counter[tuple[Any, ...]] = Counter()
        for digest in digests:
            got.update((digest, *at) for at in places.get(digest, [(None, None, None, False)]))
        return got

    def totals(self) -> Counter[tuple[Any, ...]]:
        """Bucket, state and storage class → versions that exist."""
        got: Counter[tuple[Any, ...]] = Counter()
        for place, version in self.listing.items():
            if place not in self.objects or not self.entry_of(self.objects[place]):
                got[place[0], "not recorded", version["storage_class"]] += 1
        for row in self.objects.values():
            if self.is_present(row):
                entry = self.entry_of(row)
                class_ = entry["storage_class"] if entry else row.storage_class
                got[row.bucket, self.states[place_of(row)], class_] += 1
        return got


def _sequencer_in(item: Mapping[str, Any]) -> str:
    """The sequencer, even if something else is damaged."""
    try:
        return sequencer_in(item)
    except DamagedRow:
        return ""


def place_of(row: Row) -> Place:
    """Bucket, key and version of an object."""
    return row.bucket, row.key, row.entry


def folder_of(key: str) -> str:
    """The first folder of *key*, with its slash; empty if it is in none."""
    head, slash, _ = key.partition("/")
    return head + slash if slash else ""
