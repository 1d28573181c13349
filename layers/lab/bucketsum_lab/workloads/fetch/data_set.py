"""The generated data set of a size: twelve archives, and the manifest of their known results.

There are twelve as in elsotanillo (2020). The largest has eleven times the bytes of the smallest,
as in Bengtsson (2017): with equal sizes, a queue of one is enough.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterator
from dataclasses import asdict
from functools import lru_cache
from typing import Final

from bucketsum.digest import digest_of
from bucketsum_lab.errors import BadSweep, FieldPlace
from bucketsum_lab.protocol.fields import Fields, text, whole
from bucketsum_lab.workloads.fetch.model import ArchiveItem
from bucketsum_lab.workloads.unzip.generated_archive import GeneratedArchive

ITEMS: Final = 12
SPREAD: Final = 11
"""Largest ÷ smallest size."""


def archives_of(total_bytes: int) -> Iterator[tuple[str, int]]:
    """Name and size of each archive, of *total_bytes* together; their order is seeded."""
    weights = [SPREAD ** (number / (ITEMS - 1)) for number in range(ITEMS)]
    random.Random(0).shuffle(weights)  # noqa: S311 - the same every time
    sizes = [int(total_bytes * weight / sum(weights)) for weight in weights]
    sizes[-1] += total_bytes - sum(sizes)
    for number, size_bytes in enumerate(sizes, start=1):
        yield f"{number:02}.zip", size_bytes


@lru_cache(maxsize=ITEMS)
def archive_of(size_bytes: int) -> GeneratedArchive:
    """The planned archive, cached: its bytes and the manifest both need it."""
    return GeneratedArchive(size_bytes)


def item_of(name: str, size_bytes: int) -> ArchiveItem:
    """The archive's known results."""
    archive = archive_of(size_bytes)
    sha1 = digest_of(archive.chunks()).sha1
    return ArchiveItem(name, size_bytes, sha1, archive.contents.members_sha1, archive.lines)


def manifest_of(items: list[ArchiveItem]) -> bytes:
    """The manifest of *items*."""
    return json.dumps({"items": [asdict(item) for item in items]}, indent=1).encode()


def items_in(manifest: bytes, total_bytes: int) -> tuple[ArchiveItem, ...]:
    """The items of a manifest, of *total_bytes* together.

    Raises:
        BadSweep: It is not one; the text names the entry.
    """
    try:
        entries = json.loads(manifest)["items"]
    except (ValueError, KeyError, TypeError):
        raise BadSweep("the manifest is not a JSON object with a list `items`") from None
    if not isinstance(entries, list) or not entries:
        raise BadSweep("items is not a list with at least one entry")
    items = tuple(
        _item(FieldPlace("items").item(index), entry) for index, entry in enumerate(entries)
    )
    if len({item.name for item in items}) < len(items):
        raise BadSweep("two items have the same name")
    size_bytes = sum(item.size_bytes for item in items)
    if size_bytes != total_bytes:
        raise BadSweep(f"its items have {size_bytes} bytes, but the data set has {total_bytes}")
    return items


_NAME: Final = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*")
"""Names that need no quotes in a shell, and are not options."""


def _item(place: FieldPlace, entry: object) -> ArchiveItem:
    fields = Fields(place, entry, ("name", "size_bytes", "sha1", "members_sha1", "lines"))
    name = fields.needed("name", text)
    if not _NAME.fullmatch(name):
        raise BadSweep(
            place.within("name"),
            f" is {name!r}; allowed are letters, digits, '_', and after the first "
            "character '.' and '-'",
        )
    return ArchiveItem(
        name=name,
        size_bytes=fields.needed("size_bytes", whole(1, 10**15)),
        sha1=fields.needed("sha1", text),
        members_sha1=fields.needed("members_sha1", text),
        lines=fields.needed("lines", whole(0, 10**15)),
    )
