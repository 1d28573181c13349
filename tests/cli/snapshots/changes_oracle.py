"""Changes between two snapshots of hostile rows, computed by plain Python."""

import hashlib
import random
from collections import Counter
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cached_property
from typing import Any

from tests.cli.snapshots.hostile_rows import STRANGE, Hostile, damaged, hostile
from tests.cli.snapshots.oracle import Oracle, Place, folder_of, place_of

from bucketsum.archives.member_rows import MEMBER_MARK
from bucketsum.events.object_events import DeletedBy
from bucketsum.table.items import item_of, shown_rows
from bucketsum.table.row_parts import Deletion, Difference, Verified
from bucketsum.table.rows import Row, Status
from bucketsum.table.sequencer import comparable_sequencer

LATER = "2026-11-25T00:00:00.000Z"


def later(before: Hostile, seed: int = 7) -> Hostile:
    """The rows and the listing after everything that can happen did."""
    chance = random.Random(seed)  # noqa: S311 - test data
    after = Hostile()
    for item in before.items:
        after.items += _after(chance, item)
    etags = {(i["object"]["S"], i["entry"]["S"]): i.get("etag", {}).get("S") for i in after.items}
    for entry in before.listing:
        if chance.random() < 0.85:
            place = f"{entry['bucket']}/{entry['key']}", entry["version"]
            etag = (etags.get(place) if chance.random() < 0.9 else None) or entry["etag"]
            latest = entry["latest"] and chance.random() < 0.9
            after.listing.append(entry | {"latest": latest, "etag": etag})
    new = hostile(100, seed)
    after.items += [item | {"object": {"S": f"{item['object']['S']}+"}} for item in new.items[:-1]]
    after.listing += [entry | {"key": f"{entry['key']}+"} for entry in new.listing]
    return after


def _after(chance: random.Random, item: dict[str, Any]) -> list[dict[str, Any]]:
    """The item later: as it was, changed, gone, or beside a newer version."""
    row = next(iter(shown_rows([item])), None)
    if row is None or row.status is Status.DAMAGED or MEMBER_MARK in row.entry:
        return [item] if chance.random() < 0.9 else []
    content = str(chance.random()).encode()
    other = hashlib.sha1(content).hexdigest()
    newer = replace(
        row, status=Status.HASHED, sha1=chance.choice((other, row.sha1 or other)), digests={},
        sequencer=comparable_sequencer("FFF"), etag=hashlib.md5(content).hexdigest(),
        arrived_at=LATER, verified=None, difference=None, failed_reading=None, compared=None,
    )  # fmt: skip
    deletion = Deletion(LATER, DeletedBy.LIFECYCLE, "F" * 32, None)
    hashed = row.status is Status.HASHED
    return chance.choice([
        [item], [item], [item], [],
        [item_of(replace(row, verified=Verified(LATER, 3)))],
        [item_of(replace(row, difference=Difference("sha1:11", LATER)))],
        [item_of(replace(row, deletion=deletion))],
        [item_of(newer if row.entry == "null" else row)],
        [item, item_of(replace(newer, entry=f"{row.entry}+"))] if row.entry != "null" else [item],
        [item_of(replace(row, sha1=other) if hashed else replace(newer, etag=row.etag))],
        [damaged(item, "size_bytes", chance.choice(STRANGE[:4]))],
    ])  # fmt: skip


@dataclass(frozen=True, slots=True)
class Version:
    """All that a snapshot knows of a version."""

    state: str
    row: Row | None = None
    etag: str | None = None
    size_bytes: int | None = None
    sequencer: str = ""
    created: str = ""
    latest: bool | None = None

    @property
    def is_there(self) -> bool:
        """Whether it exists."""
        return self.state not in ("absent", "deleted", "lost")


ABSENT = Version("absent")
NAMED = ("differs", "repaired", "unreadable", "damaged")
"""States that are a change of their own, also of a version that is new."""


class Side(Oracle):
    """All versions of a snapshot."""

    def covers(self, place: Place) -> bool:
        """Whether the listing has all versions of the key."""
        return self._covers(place[0], place[1])

    @cached_property
    def versions(self) -> dict[Place, Version]:
        """All that a row, the listing or a deletion is of."""
        known = {(b, k, v): Version("deleted") for b, k, v, _ in self.deletions()}
        known |= {place: self._recorded(row) for place, row in self.objects.items()}
        for place, entry in self.listing.items():
            if place not in self.objects or not self.is_present(self.objects[place]):
                known[place] = Version(
                    "not recorded", None, entry["etag"], entry["size_bytes"], "",
                    entry["created_at"], entry["latest"],
                )  # fmt: skip
        return known

    def _recorded(self, row: Row) -> Version:
        entry, state = self.entry_of(row), self.states[place_of(row)]
        latest, sequencer = entry["latest"] if entry else None, self._sequencer(row)
        if row.status is Status.DAMAGED:
            return Version(state, sequencer=sequencer, latest=latest)
        size, created = row.size_bytes, row.arrived_at[:19]
        return Version(state, row, row.etag, size, sequencer, created, latest)


def changes(before: Side, after: Side, began: str) -> Counter[tuple[str, ...]]:
    """Bucket, folder and change → versions."""
    old, new = before.versions, after.versions
    current: dict[tuple[str, str], Version] = {}
    for (bucket, key, _), version in sorted(old.items()):
        if version.is_there:
            current[bucket, key] = max(current.get((bucket, key), version), version, key=_age)
    has_latest = {place[:2] for place, version in new.items() if version.latest}
    got: Counter[tuple[str, ...]] = Counter()
    for place in old.keys() | new.keys():
        was, now = old.get(place, ABSENT), new.get(place, ABSENT)
        is_hidden = bool(was.latest) and now.latest is False and place[:2] not in has_latest
        if now.state in NAMED and now.state != was.state:
            change = now.state
        elif was.is_there and now.is_there and _is_same(place, was, now):
            change = _of_the_same(was, now, is_hidden=is_hidden)
        else:
            is_old = "" < now.created < began and not before.covers(place)
            change = _of_another(was, now, current.get(place[:2]), is_old=is_old)
        if change:
            got[place[0], folder_of(place[1]), change] += 1
    return got


def _age(version: Version) -> tuple[bool, str, str]:
    return bool(version.latest), version.created, version.sequencer


def _is_same(place: Place, was: Version, now: Version) -> bool:
    for left, right in ((was.etag, now.etag), (was.sequencer, now.sequencer)):
        if place[2] == "null" and left and right:
            return left == right
    return True


def _digests(version: Version) -> dict[str, str]:
    row = version.row
    return {**row.digests, **({"sha1": row.sha1} if row.sha1 else {})} if row else {}


def _is_other(left: Version, right: Version) -> bool:
    first, second = _digests(left), _digests(right)
    both = first.keys() & second.keys()
    if both:
        return any(first[name] != second[name] for name in both)
    known = (left.etag, left.size_bytes)
    return None in known or known != (right.etag, right.size_bytes)


def _of_another(was: Version, now: Version, known: Version | None, *, is_old: bool) -> str:
    if not now.is_there:
        is_new = was.is_there or (now.state == "lost" != was.state)
        return now.state.replace("absent", "lost") if is_new else ""
    if known:
        return "overwritten" if _is_other(known, now) else ""
    return "recorded" if is_old else "added"


def sql_time(text: str) -> str:
    """*text*, or nothing if it is not a time: SQL has NULL then."""
    try:
        datetime.fromisoformat(text)
    except ValueError:
        return ""
    return text


def _of_the_same(was: Version, now: Version, *, is_hidden: bool) -> str:
    first, second = _digests(was), _digests(now)
    if any(first[name] != second[name] for name in first.keys() & second.keys()):
        return "differs"
    if first and not second:
        return now.state
    if is_hidden:
        return "hidden"
    if second and not first:
        return "recorded"
    last, read = (
        sql_time(v.row.verified.at) if v.row and v.row.verified else "" for v in (was, now)
    )
    return "verified" if read > last else ""
