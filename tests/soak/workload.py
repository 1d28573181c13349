"""The objects of a soak: planned by the seed, and uploaded by several threads."""

import json
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from random import Random
from typing import Any, Final
from urllib.parse import quote_plus

from tests.soak.faults import UNREACHABLE
from tests.soak.queues import Backlog
from tests.support.sha1 import sha1_of
from tests.support.zip_maker import zip_of

from bucketsum.table.rows import RowKey
from bucketsum_cli.aws.stack import Stack

PREFIX: Final = "soak/"
THREADS: Final = 8

_ODD_NAMES: Final = (
    "plain", "a space", "1+1=2", "100%25", "a&b<c>'d'", "ünïcode/日本語", "😀", "deep/" * 40,
    "x" * 900,
)  # fmt: skip
_LARGE_EVERY: Final = 4000
_UNREACHABLE_EVERY: Final = 2000
_MALFORMED_EVERY: Final = 500
_SIZES: Final = ((0.02, 0, 0), (0.90, 1, 4_000), (0.07, 4_000, 64_000), (0.01, 64_000, 1_000_000))
"""Share of the objects, and the smallest and largest size in bytes; some large ones come apart."""
_LARGE_BYTES: Final = (5_000_000, 20_000_000)
_ARCHIVES: Final = 0.03
_OVERWRITTEN: Final = 0.06
_DUPLICATED: Final = 0.05
_HIDDEN: Final = 0.03
_DELETED: Final = 0.04


@dataclass(frozen=True, slots=True)
class Version:
    """An uploaded version.

    Attributes:
        row_key: Key of its row.
        sha1: The SHA-1 of its bytes, by hashlib.
        size_bytes: Its size.
        deleted: Whether it was deleted for ever.
        members: Path → SHA-1 of the members if it is a zip archive.
    """

    row_key: RowKey
    sha1: str
    size_bytes: int
    deleted: bool = False
    members: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Uploaded:
    """Everything that was done for one planned object.

    Attributes:
        versions: The versions, more than one if the object was overwritten.
        markers: Delete markers.
        duplicates: Repeated events.
        malformed: Malformed messages.
    """

    versions: tuple[Version, ...]
    markers: int = 0
    duplicates: int = 0
    malformed: int = 0

    @property
    def events(self) -> int:
        """Messages in the arrivals queue because of it."""
        deleted = sum(version.deleted for version in self.versions)
        return len(self.versions) + deleted + self.markers + self.duplicates + self.malformed


class Workload:
    """Uploads the planned objects of a seed."""

    def __init__(self, stack: Stack, seed: int) -> None:
        self._stack = stack
        self._seed = seed
        self._s3 = stack.client("s3")
        self._sqs = stack.client("sqs")

    def uploaded(self, numbers: range, backlog: Backlog) -> Iterator[Uploaded]:
        """Upload the objects with these *numbers* in several threads, as *backlog* has room."""

        def upload(number: int) -> Uploaded:
            backlog.wait_for_room()
            return self._upload(number)

        with ThreadPoolExecutor(THREADS) as threads:
            try:
                yield from threads.map(upload, numbers)
            finally:  # on an error or Ctrl-C: start no more, and let those that wait go
                threads.shutdown(wait=False, cancel_futures=True)
                backlog.given_up.set()

    def _upload(self, number: int) -> Uploaded:
        random = Random(f"{self._seed} {number}")  # noqa: S311 - a plan, not a secret
        is_archive = random.random() < _ARCHIVES
        name = random.choice(_ODD_NAMES)
        if number % _UNREACHABLE_EVERY == _UNREACHABLE_EVERY // 2:
            name = UNREACHABLE
        key = f"{PREFIX}{number}/{name}{'.zip' if is_archive else ''}"
        count = 2 if random.random() < _OVERWRITTEN else 1
        versions = [self._put(key, random, number, is_archive=is_archive) for _ in range(count)]
        duplicates = random.choice((1, 2)) if random.random() < _DUPLICATED else 0
        for _ in range(duplicates):
            self._send(json.dumps({"Records": [_event(versions[-1])]}))
        if marked := random.random() < _HIDDEN:
            self._s3.delete_object(Bucket=self._stack.bucket, Key=key)
        if random.random() < _DELETED:
            versions[0] = self._deleted(versions[0])
        if malformed := number % _MALFORMED_EVERY == _MALFORMED_EVERY // 2:
            self._send(json.dumps({"soak": f"malformed {number}"}))
        return Uploaded(tuple(versions), int(marked), duplicates, int(malformed))

    def _put(self, key: str, random: Random, number: int, *, is_archive: bool) -> Version:
        members: dict[str, bytes] = {}
        if is_archive:
            paths = (f"{path}-{_ODD_NAMES[path]}" for path in range(random.randint(1, 7)))
            members = {path: random.randbytes(random.randint(0, 3000)) for path in paths}
            content = zip_of(members)
        else:
            content = random.randbytes(_size(random, number))
        answer = self._s3.put_object(Bucket=self._stack.bucket, Key=key, Body=content)
        return Version(
            RowKey(self._stack.bucket, key, answer["VersionId"]),
            sha1_of(content),
            len(content),
            members={path: sha1_of(member) for path, member in members.items()},
        )

    def _deleted(self, version: Version) -> Version:
        key = version.row_key
        self._s3.delete_object(Bucket=key.bucket, Key=key.key, VersionId=key.entry)
        return Version(key, version.sha1, version.size_bytes, deleted=True)

    def _send(self, body: str) -> None:
        self._sqs.send_message(QueueUrl=self._stack.arrivals_queue_url, MessageBody=body)


def _size(random: Random, number: int) -> int:
    if number % _LARGE_EVERY == _LARGE_EVERY // 100:
        return random.randint(*_LARGE_BYTES)
    _, smallest, largest = random.choices(_SIZES, [share for share, _, _ in _SIZES])[0]
    return random.randint(smallest, largest)


def _event(version: Version) -> dict[str, Any]:
    """An event of *version* that is older than S3's own."""
    return {
        "eventVersion": "2.1",
        "eventName": "ObjectCreated:Put",
        "eventTime": "2026-11-21T00:00:00.000Z",
        "s3": {
            "bucket": {"name": version.row_key.bucket},
            "object": {
                "key": quote_plus(version.row_key.key, safe="/"),
                "size": version.size_bytes,
                "versionId": version.row_key.entry,
                "sequencer": "00",
            },
        },
    }
