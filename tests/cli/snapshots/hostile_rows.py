"""Items of a digests table whose keys are hostile, some of them damaged, with a listing of S3."""

import gzip
import hashlib
import json
import random
import zlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any, Final

from bucketsum.algorithms import EXTRA_ALGORITHMS
from bucketsum.archives.member_rows import member_entry
from bucketsum.events.object_events import DeletedBy
from bucketsum.long_objects.progress import PARTITION
from bucketsum.table.archive_settings import Mode
from bucketsum.table.archive_status import ArchiveStatus
from bucketsum.table.checksum_values import ChecksumResult, Compared
from bucketsum.table.items import NOT_HASHED, item_of
from bucketsum.table.row_parts import (
    ArchiveRecord,
    Deletion,
    Difference,
    FailedReading,
    MemberRecord,
    ReadSetup,
    Timing,
    Verified,
)
from bucketsum.table.rows import Row, Status
from bucketsum.table.sequencer import comparable_sequencer
from bucketsum_cli.snapshots.folder import (
    LISTING,
    ROWS,
    Listed,
    Snapshot,
    SnapshotFile,
    md5_of,
    new_folder,
)

NAMES: Final = (
    "a\nb", "a\r\nb", "'; DROP TABLE items; --", '"x"', "$prefix", "=cmd|'/C calc'!A0", "<b>x</b>",
    "\x1b[31mred", "\u202egpj.exe", "caf\u00e9", "cafe\u0301", "k" * 1000, "a!/b", "%_%", "\\n",
    "a b", "..", "/", "//", "\U0001f600", "\x00\x7f\x85", "{}", "null~x", "é/à/ü", "a,b;c\td", " ",
)  # fmt: skip
STRANGE: Final[Sequence[Any]] = (
    {"L": []}, {"N": "1.5"}, {"N": "-1"}, {"S": "x"}, {"BOOL": True}, {"NULL": True}, {"S": ""},
    {"N": "99999999999999999999"}, {"N": "9000000000000000"},
    {"S": "2026-13-01T00:00:00Z"}, {"M": {"S": {"S": "x"}}}, None,
)  # fmt: skip
"""Values that replace an attribute; None removes it."""


TIMES: Final = ("2026-11-22T00:00:00.000Z", "2026-11-23T00:00:00Z", "2026-11-24T00:00:00.000Z")

_END: Final = "\ue000"
"""Stands at the end of each key until the marks are known."""


@dataclass
class Hostile:
    """The items, and what S3 lists; each as often as there are marks, which end the keys."""

    items: list[dict[str, Any]] = field(default_factory=list)
    listing: list[dict[str, Any]] = field(default_factory=list)
    marks: Sequence[str] = ("",)

    def _marked(self, lines: Iterable[Any]) -> list[str]:
        texts = [json.dumps(line, ensure_ascii=False) for line in lines]
        return [text.replace(_END, mark) for text in texts for mark in self.marks]

    def write(self, folder: Path, listed: Sequence[Listed]) -> Snapshot:
        """Write them as a snapshot, in three files."""
        with new_folder(folder) as (partial, complete):
            items = self._marked(
                {"Item": i | {"object": {"S": i["object"]["S"] + _END}}} for i in self.items
            )
            files = [
                write_texts(partial, f"{ROWS}/{part}.json.gz", items[part::3]) for part in range(3)
            ]
            keys = {(item.bucket, item.prefix) for item in listed}
            versions = self._marked(
                version | {"key": version["key"] + _END}
                for version in self.listing
                if any(b == version["bucket"] and version["key"].startswith(p) for b, p in keys)
            )
            files.append(write_texts(partial, f"{LISTING}/0.json.gz", versions))
            at = "2026-11-26T10:00:00.000Z"
            names = ("stack", "123456789012", "us-east-1", "digests")
            snapshot = Snapshot(folder, *names, at, at, "scan", tuple(files), tuple(listed))
            complete(snapshot)
        return snapshot


def write_lines(folder: Path, name: str, lines: Sequence[Any]) -> SnapshotFile:
    """Write a file of a snapshot."""
    return write_texts(folder, name, [json.dumps(line) for line in lines])


def write_texts(folder: Path, name: str, texts: Sequence[str]) -> SnapshotFile:
    """Write a file of a snapshot, of lines."""
    path = folder / name
    path.parent.mkdir(exist_ok=True, parents=True)
    with gzip.open(path, "wt", compresslevel=1, encoding="utf-8") as file:
        file.writelines(f"{text}\n" for text in texts)
    return SnapshotFile(name, len(texts), md5_of(path))


def hostile(count: int, seed: int = 1) -> Hostile:
    """Make about *count* items."""
    chance, sample = random.Random(seed), Hostile()  # noqa: S311 - test data
    number = 0
    while len(sample.items) < count:
        number += 1
        _add_key(sample, chance, number)
    rotten = replace(
        _row(chance, "photos", "repaired", "v1", "1"), status=Status.HASHED, sha1="a" * 40,
        size_bytes=1, verified=None, difference=Difference("sha1:00", TIMES[0]), deletion=None,
    )  # fmt: skip
    newer = replace(rotten, entry="v2", sequencer="2" * 32, difference=None, failed_reading=None)
    sample.items += [item_of(rotten), item_of(newer)]
    sample.listing += [_listed(chance, row, latest=row is newer) for row in (rotten, newer)]
    sample.items.append(
        {"object": {"S": PARTITION}, "entry": {"S": "x"}, "status": {"S": "running"}}
    )
    return sample


@cache
def shared_sample() -> Hostile:
    """2,000 items for all tests, made where the first needs them."""
    return hostile(2000)


def _add_key(sample: Hostile, chance: random.Random, number: int) -> None:
    """Add a key with its versions and members, and what S3 lists of it."""
    bucket = chance.choice(("photos", "films"))
    key = chance.choice(NAMES) + (chance.choice(("", "/")) + str(number))[: 1024 - 1000]
    has_versions = chance.random() < 0.5
    entries = [f"v{number}.{i}" for i in range(chance.randint(1, 3))] if has_versions else ["null"]
    for order, entry in enumerate(entries):
        row = _row(chance, bucket, key, entry, f"{number:X}{order}")
        latest = entry == entries[-1] and chance.random() < 0.9  # else hidden by a delete marker
        if chance.random() < 0.9:
            is_row = chance.random() < 0.9
            sample.items.append(_damaged(chance, item_of(row) if is_row else _tombstone(row)))
            sample.items += [_damaged(chance, item_of(member)) for member in _members(chance, row)]
        if (row.deletion is None or not has_versions) and chance.random() < 0.9:
            sample.listing.append(_listed(chance, row, latest=latest))


COMPARED: Final = (
    Compared(ChecksumResult.EQUAL, "crc32:AA=="),
    Compared(ChecksumResult.NOT_COMPARED, reason="S3 keeps no checksum of it"),
    Compared(ChecksumResult.DIFFERS, "crc32:AA==", "crc32:AB== as read"),
)


def _row(chance: random.Random, bucket: str, key: str, entry: str, sequencer: str) -> Row:
    content = str(chance.randint(0, 40)).encode() * chance.randint(0, 2)
    deleted = Deletion("2026-11-21T00:00:00.000Z", DeletedBy.REQUEST, f"F{sequencer}", 1800000000)
    is_hashed = chance.random() < 0.9
    reason = chance.choice((None, "cut off"))
    algorithms = chance.sample(EXTRA_ALGORITHMS, chance.randint(0, 2))
    return Row(
        bucket=bucket,
        key=key,
        entry=entry,
        status=Status.HASHED if is_hashed else chance.choice((Status.UNREADABLE, Status.ARCHIVED)),
        size_bytes=len(content),
        sequencer=comparable_sequencer(sequencer),
        arrived_at=f"2026-11-{chance.randint(1, 20):02}T10:00:00.000Z",
        recorded_at="2026-11-20T10:00:01.250000+00:00",
        etag=hashlib.md5(content).hexdigest() if chance.random() < 0.9 else None,
        sha1=hashlib.sha1(content).hexdigest() if is_hashed else None,
        digests={name: _digest(name, content) for name in algorithms} if is_hashed else {},
        reason=None if is_hashed else chance.choice(("in Glacier", "access denied")),
        timing=Timing(12.5, 3.0) if chance.random() < 0.5 else None,
        setup=ReadSetup(1048576, 1, 256) if chance.random() < 0.5 else None,
        remarks=chance.choice(((), ("prefixed",))),
        archive=ArchiveRecord(ArchiveStatus.READ, Mode.STREAM, 2, 0, 0, 2, 0.5, reason=reason)
        if chance.random() < 0.1
        else None,
        storage_class=None if is_hashed else chance.choice((None, "GLACIER")),
        compared=chance.choice((None, COMPARED[int(sequencer, 16) % len(COMPARED)])),
        verified=Verified(chance.choice(TIMES), 2) if chance.random() < 0.3 else None,
        difference=Difference("sha1:00", chance.choice(TIMES)) if chance.random() < 0.1 else None,
        failed_reading=FailedReading(chance.choice(TIMES), "denied")
        if is_hashed and chance.random() < 0.1
        else None,
        deletion=deleted if chance.random() < 0.2 else None,
    )


def _digest(name: str, content: bytes) -> str:
    if name == "crc32":
        return f"{zlib.crc32(content):08x}"
    return hashlib.new(name, content).hexdigest()


def _members(chance: random.Random, archive: Row) -> list[Row]:
    if archive.archive is None:
        return []
    members = []
    for path in chance.sample(NAMES, 3):
        content = str(chance.randint(0, 40)).encode()
        sequencer = archive.sequencer if chance.random() < 0.9 else comparable_sequencer("1")
        members.append(
            Row(
                archive.bucket,
                archive.key,
                member_entry(archive.entry, sequencer, path),
                Status.HASHED,
                len(content),
                sequencer,
                archive.arrived_at,
                archive.recorded_at,
                sha1=hashlib.sha1(content).hexdigest(),
                member=MemberRecord(path, "deflate", "00000000", 1),
            )
        )
    return members


def _damaged(chance: random.Random, item: dict[str, Any]) -> dict[str, Any]:
    if chance.random() < 0.8:
        return item
    name = chance.choice(sorted(item.keys() - {"object", "entry", "sha1_shard"}))
    return damaged(item, name, chance.choice(STRANGE))


def damaged(item: dict[str, Any], name: str, value: Any) -> dict[str, Any]:  # noqa: ANN401 - any type of DynamoDB's
    """*item* with another value of an attribute, or without it."""
    rest = {attribute: content for attribute, content in item.items() if attribute != name}
    return rest if value is None else rest | {name: value}


def _tombstone(row: Row) -> dict[str, Any]:
    item = item_of(row)
    names = ("object", "entry", "deleted_at", "deleted_by", "deletion_sequencer", "expires_at")
    return {name: item[name] for name in names if name in item} | {"status": {"S": NOT_HASHED}}


def _listed(chance: random.Random, row: Row, *, latest: bool) -> dict[str, Any]:
    is_same = chance.random() < 0.9
    return listing_of(row) | {
        "latest": latest,
        "etag": row.etag if is_same and row.etag else "other",
        "storage_class": chance.choice(("STANDARD", "STANDARD_IA", "GLACIER")),
    }


def listing_of(row: Row) -> dict[str, Any]:
    """S3's entry of the object with *row*, the newest of its key."""
    return {
        "bucket": row.bucket, "key": row.key, "version": row.entry, "latest": True,
        "size_bytes": row.size_bytes, "etag": row.etag, "created_at": "2026-11-20T10:00:00",
        "storage_class": "STANDARD",
    }  # fmt: skip


def listed_snapshot(folder: Path, rows: Sequence[Row], unrecorded: Sequence[Row] = ()) -> Path:
    """Write a snapshot of *rows*, of which S3 lists what is not deleted, and *unrecorded*."""
    there = [*(row for row in rows if row.deletion is None), *unrecorded]
    listed = [Listed(bucket, "") for bucket in sorted({row.bucket for row in there})]
    return Hostile([*map(item_of, rows)], [*map(listing_of, there)]).write(folder, listed).folder
