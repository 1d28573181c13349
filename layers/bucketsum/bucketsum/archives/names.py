"""Names of members: how they are decoded, and what is wrong with them.

A name in an archive is text by whoever made it. It is recorded as it is, beside remarks on what
it could do to a program that trusts it, and it never becomes a path on disk.
"""

from __future__ import annotations

import hashlib
import re
import zlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from bucketsum.archives.extra_fields import extra_field
from bucketsum.archives.model import MADE_ON_UNIX

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bucketsum.archives.model import Member

NAME_BYTES_MAX: Final = 900
"""From here on a name is too long: a row's key has 1,024 bytes, with the version id in them."""

_UTF8_BIT: Final = 0x800
_UNICODE_PATH: Final = 0x7075
_COMPONENT_BYTES_MAX: Final = 200  # file systems allow 255
_DRIVE: Final = re.compile(r"[A-Za-z]:")
_CONTROL: Final = re.compile(r"[\x00-\x1f\x7f-\x9f]")  # Unicode's category Cc, whole
_PERHAPS_ODD: Final = re.compile(r"[^ -~]|\\|\.\.|^/|^.:|^$")
_BIDIRECTIONAL: Final = frozenset(
    "\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
)


def decoded_name(raw: bytes, flags: int, extra: bytes, system: int) -> str:
    """A member's name as text; every sequence of bytes has one.

    UTF-8 where the member says so, or was made on Unix, where `zip` writes the bytes of file
    names as they are; else, and where that is not UTF-8, the first PC's characters.
    """
    if raw.isascii():
        return raw.decode("ascii")
    unicode_path = _unicode_path(raw, extra)
    if unicode_path:
        return unicode_path
    try:
        return raw.decode("utf-8" if flags & _UTF8_BIT or system in MADE_ON_UNIX else "cp437")
    except UnicodeDecodeError:
        return raw.decode("cp437")


def _unicode_path(raw: bytes, extra: bytes) -> str | None:
    """Info-ZIP's own way to UTF-8: an extra field that holds for exactly this name."""
    field = extra_field(extra, _UNICODE_PATH)
    if field is None or field[:1] != b"\x01" or field[1:5] != zlib.crc32(raw).to_bytes(4, "little"):
        return None
    try:
        return field[5:].decode("utf-8") or None
    except UnicodeDecodeError:
        return None


def name_warnings(name: str) -> tuple[str, ...]:
    """What *name* could do to a program that trusts it; nothing for nearly every name."""
    if len(name) <= _COMPONENT_BYTES_MAX and not _PERHAPS_ODD.search(name):
        return ()
    parts = re.split(r"[/\\]", name)
    found = {
        "empty-name": not name.strip("/"),
        "climbs": ".." in parts,
        "absolute": name.startswith(("/", "\\")),
        "drive": bool(_DRIVE.match(name)),
        "backslash": "\\" in name,
        "control-characters": bool(_CONTROL.search(name)),
        "bidirectional": not _BIDIRECTIONAL.isdisjoint(name),
        "too-long": len(name.encode()) > NAME_BYTES_MAX
        or any(len(part.encode()) > _COMPONENT_BYTES_MAX for part in parts),
    }
    return tuple(remark for remark, holds in found.items() if holds)


@dataclass(frozen=True, slots=True)
class NameCollision:
    """A member whose name is another's too.

    Attributes:
        path: A name that it has for itself.
        remark: ``duplicate``, or ``case-collision`` where only the case differs.
    """

    path: str
    remark: str


def name_collisions(members: Sequence[Member]) -> dict[int, NameCollision]:
    """The members, by where their headers are, that cannot be told from another by name.

    Of duplicates the last keeps its name, as it is what extracting leaves; of names that differ
    in case each keeps its own.
    """
    taken: set[str] = set()
    folded: dict[str, str] = {}
    clashes: dict[int, NameCollision] = {}
    for member in reversed(members):
        if member.is_directory:
            continue
        path, number = member.name, 1
        while path in taken:
            number += 1
            path = f"{member.name}~{number}"
        taken.add(path)
        other = folded.setdefault(member.name.casefold(), member.name)
        if path != member.name:
            clashes[member.header_offset] = NameCollision(path, "duplicate")
        elif other != member.name:
            clashes[member.header_offset] = NameCollision(path, "case-collision")
    return clashes


def shortened(name: str, room_bytes: int) -> str:
    """*name*; where it takes more than *room_bytes*, its beginning and a hash of the whole."""
    raw = name.encode()
    if len(raw) <= room_bytes:
        return name
    tail = "~" + hashlib.sha256(raw).hexdigest()
    return raw[: room_bytes - len(tail)].decode("utf-8", "ignore") + tail
