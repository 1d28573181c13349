"""Names of members: decoding, warnings, collisions, and the folders in them.

A name in an archive is untrusted text. It is recorded as it is, with remarks on the harm that it
could do to a program that trusts it, and it never becomes a path on disk. All work is linear in
the bytes of the names.
"""

from __future__ import annotations

import hashlib
import re
import zlib
from collections.abc import Iterable
from typing import Final

from bucketsum.archives.extra_fields import extra_field
from bucketsum.archives.zip_model import MADE_ON_UNIX, Member

NAME_BYTES_MAX: Final = 900
"""Longer names are remarked on: a row's key has 1,024 bytes, the version id included."""

PATH_BYTES_MAX: Final = 4096
"""Longest path of a member, as on Linux. Longer ones are shortened: a row has at most 400 KB."""

_UTF8_BIT: Final = 0x800
_UTF8: Final = "utf-8"
_CP437: Final = "cp437"  # the first PC's characters: every sequence of bytes is valid
_UNICODE_PATH: Final = 0x7075
_SHOWN_CHARACTERS: Final = 100
_COMPARED_CHARACTERS: Final = 40  # longer paths are compared by a hash, which takes less memory
_COMPONENT_BYTES_MAX: Final = 200  # file systems allow 255
_UTF8_BYTES_MAX: Final = 4
_CUT_END: Final = re.compile(r"~[0-9a-f]{64}\Z")
_DRIVE: Final = re.compile(r"[A-Za-z]:")
_CONTROL: Final = re.compile(r"[\x00-\x1f\x7f-\x9f]")  # Unicode's category Cc, whole
_PERHAPS_ODD: Final = re.compile(r"[^ -~]|\\|\.\.|^/|^.:|^$")
_BIDIRECTIONAL: Final = re.compile(r"[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")


def encoded_name(raw: bytes, flags: int, extra: bytes, system: int) -> tuple[bytes, str]:
    """Bytes of a member's name and their encoding, in which they are always valid.

    UTF-8 if the member says so, or if it was made on Unix, where `zip` writes the bytes of file
    names as they are; otherwise, and if that is not UTF-8, code page 437.
    """
    unicode_path = _unicode_path(raw, extra) if extra else None
    if unicode_path:
        return unicode_path, _UTF8
    if raw.isascii():
        return raw, _UTF8
    if (flags & _UTF8_BIT or system in MADE_ON_UNIX) and _is_utf8(raw):
        return raw, _UTF8
    return raw, _CP437


def spellings(raw: bytes, flags: int, extra: bytes, system: int) -> frozenset[str]:
    """The names that a local header can mean.

    Some programs, as Python's zipfile when it appends, encode a name in the directory otherwise
    than in the local header, so names are compared as text.
    """
    data, encoding = encoded_name(raw, flags, extra, system)
    return frozenset({data.decode(encoding), raw.decode(_CP437)})


def _unicode_path(raw: bytes, extra: bytes) -> bytes | None:
    """Info-ZIP's Unicode path, an extra field that is valid for this raw name alone."""
    field = extra_field(extra, _UNICODE_PATH)
    if field is None or field[:1] != b"\x01" or field[1:5] != zlib.crc32(raw).to_bytes(4, "little"):
        return None
    path = field[5:]
    # WinZip's has backslashes for the raw name's slashes
    if b"/" not in path and b"\\" not in raw and path.count(b"\\") == raw.count(b"/"):
        path = path.replace(b"\\", b"/")
    return path if _is_utf8(path) else None


def _is_utf8(data: bytes) -> bool:
    try:
        data.decode(_UTF8)
    except UnicodeDecodeError:
        return False
    return True


def shown(name: str | bytes) -> str:
    """*name* as a literal for an error's text, cut where it is long."""
    literal = repr(name[:_SHOWN_CHARACTERS])
    if len(name) <= _SHOWN_CHARACTERS and len(literal) <= 2 * _SHOWN_CHARACTERS:
        return literal
    return f"{literal[:_SHOWN_CHARACTERS]}…"


def name_warnings(name: str) -> tuple[str, ...]:
    """Remarks on the harm that *name* could do; none for nearly every name."""
    if len(name) <= _COMPONENT_BYTES_MAX and not _PERHAPS_ODD.search(name):
        return ()
    parts = re.split(r"[/\\]", name)
    warnings = {
        "empty-name": not name.strip("/"),
        "climbs": ".." in parts,
        "absolute": name.startswith(("/", "\\")),
        "drive": bool(_DRIVE.match(name)),
        "backslash": "\\" in name,
        "control-characters": bool(_CONTROL.search(name)),
        "bidirectional": bool(_BIDIRECTIONAL.search(name)),
        "too-long": len(name.encode()) > NAME_BYTES_MAX
        or any(len(part.encode()) > _COMPONENT_BYTES_MAX for part in parts),
    }
    return tuple(remark for remark, holds in warnings.items() if holds)


class UniquePaths:
    """Gives each member of an archive, and of archives nested in it, a path of its own."""

    def __init__(self) -> None:
        self._used: set[str | bytes] = set()
        self._numbers: dict[str | bytes, int] = {}

    def collisions(self, members: Iterable[Member], prefix: str = "") -> dict[int, str]:
        """Suffixes of *members*, the last first, whose names are not unique, by `Member.place`.

        A suffix makes a name unique: ``~2``, ``~3``, …; it is empty if only the case differs.

        Of duplicates the last keeps its name, as it is the one that extracting leaves; of names
        that differ in case each keeps its own. In a nested archive, paths begin with *prefix*.
        """
        folded: dict[str | bytes, str | bytes] = {}
        collisions: dict[int, str] = {}
        for member in members:
            if member.is_folder:
                continue
            name = member.name
            suffix = self._suffix(prefix + name)
            compared = _compared(name)
            other = folded.setdefault(_compared(name.casefold()), compared)
            if suffix or other != compared:
                collisions[member.place] = suffix
        return collisions

    def _suffix(self, path: str) -> str:
        """The suffix that makes *path* unique; numbers are never tried twice."""
        first = compared = _compared(shortened(path, PATH_BYTES_MAX))
        number = self._numbers.get(first, 1)
        suffix = ""
        while compared in self._used:
            number += 1
            suffix = f"~{number}"
            compared = _compared(shortened(path + suffix, PATH_BYTES_MAX))
        self._used.add(compared)
        if suffix:
            self._numbers[first] = number
        return suffix


def _compared(path: str) -> str | bytes:
    if len(path) <= _COMPARED_CHARACTERS:
        return path
    return hashlib.blake2b(path.encode(), digest_size=16).digest()


def folder_count(members: Iterable[Member], most: int) -> int:
    """Number of folders that contain *members*; at most *most* are counted."""
    folders: set[int] = set()
    before = ""
    for member in members:
        folder = member.name.rpartition("/")[0]
        if folder == before:
            continue
        before = folder
        parent = 0
        for depth, part in enumerate(folder.split("/")):
            parent = hash((parent, part))
            if part or depth:  # the root of an absolute name is not a folder
                folders.add(parent)
            if len(folders) == most:
                return most
    return len(folders)


def shortened(name: str, room_bytes: int) -> str:
    """*name*; if it takes more than *room_bytes*, its beginning and a hash of the whole."""
    return name if len(name.encode()) <= room_bytes else _cut(name, room_bytes)


def shortened_apart(name: str, room_bytes: int) -> str:
    """Like `shortened`; in addition, no name equals the shortened form of another name."""
    looks_cut = len(name.encode()) > room_bytes - _UTF8_BYTES_MAX and _CUT_END.search(name)
    return _cut(name, room_bytes) if looks_cut else shortened(name, room_bytes)


def _cut(name: str, room_bytes: int) -> str:
    """The beginning of *name* and a hash of the whole: at most 3 bytes less than *room_bytes*."""
    raw = name.encode()
    tail = "~" + hashlib.sha256(raw).hexdigest()
    return raw[: room_bytes - len(tail)].decode("utf-8", "ignore") + tail
