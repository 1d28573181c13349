"""Another program: it changes items of the tables, and a person repairs them as advised."""

from dataclasses import dataclass, field
from random import Random
from typing import Any, Final

from tests.simulation.dynamodb_model import BACKFILLS, DIGESTS, KEYS, DynamoDb, Key
from tests.simulation.progress_checks import is_progress
from tests.simulation.schedule import Schedule
from tests.support.dynamodb_fake import Item

_PROBABILITY: Final = 0.1
_OTHER_TYPES: Final[tuple[dict[str, Any], ...]] = (
    {"N": "5"},
    {"S": "weird"},
    {"S": ""},
    {"BOOL": True},
    {"M": {}},
)


@dataclass(slots=True)
class OtherProgram:
    """A program that changes items, which only bucketsum should.

    It has a random generator of its own, so that the schedules without it stay as they are.

    Attributes:
        objects: Keys and versions whose row or progress was changed and is not yet repaired: until
            then, only their digests are promised.
        rows: Those whose row was changed: not even that is.
        removed: Those whose row the repair removed, and with it the order of their events.
        repaired: Those whose row or progress the repair removed: if the same bytes were uploaded
            several times, their row may be about any of these uploads.
        backfills: Backfills with an attribute that was changed; if an attribute or an item was
            removed, a backfill must not end as if it had listed all.
        has_acted: Whether it has changed anything.
    """

    schedule: Schedule
    dynamodb: DynamoDb
    random: Random
    objects: set[Key] = field(default_factory=set)
    backfills: set[str] = field(default_factory=set)
    rows: set[Key] = field(default_factory=set)
    removed: set[Key] = field(default_factory=set)
    repaired: set[Key] = field(default_factory=set)
    has_acted: bool = False
    _items: set[tuple[str, Key]] = field(default_factory=set)

    def plan(self) -> None:
        """In some schedules, change a few items at some time."""
        if self.random.random() < _PROBABILITY:
            for _ in range(self.random.randint(1, 4)):
                self.schedule.after(10 ** self.random.uniform(-1.5, 4), self._change)

    def has_changed(self, item: Item) -> bool:
        """Whether it has changed *item* of the digests table, or another of the same object."""
        key = item["object"]["S"], item["entry"]["S"]
        return (DIGESTS, key) in self._items or _object_of(item) in self.objects

    def _change(self) -> None:
        """Remove an item or an attribute, or give it another type or value."""
        tables = [
            (table, item)
            for table in KEYS
            for item in self.dynamodb.items(table)
            if item.keys() - KEYS[table]  # it has more than its key
        ]
        if not tables:
            return
        table, item = self.random.choice(tables)
        names = sorted(item.keys() - KEYS[table])
        name = self.random.choice(names)
        changed = self._changed(item, name)
        partition, sort = KEYS[table]
        key = item[partition]["S"], item[sort]["S"]
        self.schedule.log("another program changes %s: %s", key, changed)
        self._items.add((table, key))
        if table == BACKFILLS:
            if changed and name in changed:
                self.backfills.add(key[1] if key[0] == BACKFILLS else key[0])
        else:
            self.objects.add(_object_of(item))
            if not is_progress(item):
                self.rows.add(_object_of(item))
        self.has_acted = True
        self.dynamodb.overwrite(table, key, changed)

    def _changed(self, item: Item, name: str) -> Item | None:
        """*item* without *name*, or with another value of it; or nothing."""
        changed = dict(item)
        if self.random.random() < 0.6:
            changed[name] = self._other(changed[name])
        elif self.random.random() < 0.5:
            del changed[name]
        else:
            return None
        return changed

    def _other(self, value: dict[str, Any]) -> dict[str, Any]:
        """Another type, or another value of the same type."""
        others = [other for other in _OTHER_TYPES if other != value]
        if "N" in value:
            others += [{"N": "-1"}, {"N": "9" * 14}]
        if value.get("S"):
            text = value["S"]
            place = self.random.randrange(len(text))
            digit = "7" if text[place] != "7" else "8"
            others += [{"S": f"{text[:place]}{digit}{text[place + 1 :]}"}] * 3
        return self.random.choice(others)

    def repair(self) -> None:
        """Delete the items that were changed, as the reasons of dead letters advise."""
        self.repaired |= self.objects
        for table, key in sorted(self._items):
            self.schedule.log("a person deletes %s", key)
            self.dynamodb.overwrite(table, key, None)

    def forget(self) -> None:
        """All that it has changed is repaired."""
        self.removed |= self.rows
        for changed in (self.objects, self.rows, self._items):
            changed.clear()


def _object_of(item: Item) -> Key:
    """Key and version of the object of a row or of a progress item."""
    if is_progress(item):
        return item.get("key", {}).get("S", ""), item.get("version", {}).get("S", "")
    return item["object"]["S"].partition("/")[2], item["entry"]["S"]
