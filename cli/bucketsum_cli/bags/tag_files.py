"""Tag files of a BagIt bag: the declaration, manifests, bag-info.txt and fetch.txt (RFC 8493)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from bucketsum_cli.manifests.entries import BadLine, Entry, algorithm_called
from bucketsum_cli.manifests.lines import BYTE_ORDER_MARK
from bucketsum_cli.manifests.sums import bag_entries_in

DECLARATION: Final = "bagit.txt"
FETCH: Final = "fetch.txt"
INFO: Final = ("bag-info.txt", "package-info.txt")
PAYLOAD: Final = "data/"
_DECLARATION_BYTES_MAX: Final = 4096
_VERSIONS: Final = ((0, 93), (0, 94), (0, 95), (0, 96), (0, 97), (1, 0))
_FIRST: Final = (1, 0)
"""Since this version, blanks are strict, manifests complete and percent signs escaped."""
_DECLARED: Final = re.compile(
    r"BagIt-Version\s*:\s*(\d+)\.(\d+)\s*\n\s*Tag-File-Character-Encoding\s*:\s*(\S+)\s*"
)
_DECLARED_STRICTLY: Final = re.compile(
    r"BagIt-Version: \d+\.\d+\r?\nTag-File-Character-Encoding: \S+\s*"
)
_MANIFEST: Final = re.compile(r"(tag)?manifest-([\w-]+)\.txt", re.IGNORECASE)
_FETCHED: Final = re.compile(r"(\S+)[ \t]+(\d+|-)[ \t]+(.+)")
_BREAK: Final = re.compile(r"\r\n|\r|\n")
_DRIVE: Final = re.compile(r"[A-Za-z]:[/\\]|\\\\|[/~]|%[A-Za-z]+%")


class BadTagFile(Exception):
    """A tag file that makes the bag invalid; the text says why."""


@dataclass(frozen=True, slots=True)
class Declaration:
    """The version of BagIt and the encoding of the tag files."""

    version: tuple[int, int]
    encoding: str

    @property
    def is_strict(self) -> bool:
        """Whether the rules of 1.0 hold."""
        return self.version >= _FIRST

    def text_of(self, content: bytes) -> str:
        """The text of a tag file."""
        try:
            return content.decode(self.encoding)
        except (LookupError, UnicodeError) as error:
            raise BadTagFile(
                f"it is not {self.encoding}, as {DECLARATION} says: {error}"
            ) from error


@dataclass(frozen=True, slots=True)
class BagManifest:
    """A manifest of the payload, or of tag files: path → digest of its algorithm."""

    path: str
    algorithm: str
    is_of_tags: bool
    digests: dict[str, str]


@dataclass(frozen=True, slots=True)
class Fetch:
    """A payload file that the bag names by a URL, and need not have."""

    path: str
    url: str
    size_bytes: int | None


def is_tag_file(path: str) -> bool:
    """Whether the file at *path* is read: those that BagIt defines, in the bag's own folder."""
    return path in (DECLARATION, FETCH, *INFO) or _MANIFEST.fullmatch(path) is not None


def declaration_in(content: bytes) -> Declaration:
    """The version and the encoding in bagit.txt."""
    if len(content) > _DECLARATION_BYTES_MAX:
        raise BadTagFile(f"it has {len(content):,} bytes, and should have two lines")
    if content.startswith(BYTE_ORDER_MARK):
        raise BadTagFile("it begins with a byte-order mark")
    text = content.decode("utf-8", "replace")
    declared = _DECLARED.fullmatch(text)
    if declared is None:
        raise BadTagFile("it is not BagIt-Version and Tag-File-Character-Encoding, a line each")
    version = (int(declared[1]), int(declared[2]))
    if version not in _VERSIONS:
        known = ", ".join(f"{major}.{minor}" for major, minor in _VERSIONS)
        raise BadTagFile(f"its version is {declared[1]}.{declared[2]}, known are {known}")
    if version >= _FIRST and not _DECLARED_STRICTLY.fullmatch(text):
        raise BadTagFile("each of its colons must have no blank before it and one after it")
    return Declaration(version, declared[3])


def manifest_in(path: str, content: bytes, declared: Declaration) -> BagManifest | None:
    """Read the manifest at *path*; None if the file is not called as one."""
    named = _MANIFEST.fullmatch(path)
    if named is None:
        return None
    algorithm = algorithm_called(named[2]).replace("_", "")
    lines = declared.text_of(content).encode("utf-8", "surrogatepass").splitlines(keepends=True)
    entries = bag_entries_in(lines, algorithm, has_percent=declared.is_strict)
    digests: dict[str, str] = {}
    for name, digest in _named(entries, algorithm):
        if declared.is_strict and name.startswith(PAYLOAD) is bool(named[1]):
            raise BadTagFile(f"it lists {name}: the payload is below {PAYLOAD}, tag files are not")
        if name in digests and (declared.is_strict or digests[name] != digest):
            raise BadTagFile(f"it lists {name} twice")
        digests[name] = digest
    return BagManifest(path, algorithm, bool(named[1]), digests)


def _named(entries: Iterable[Entry | BadLine], algorithm: str) -> Iterator[tuple[str, str]]:
    for entry in entries:
        if isinstance(entry, BadLine):
            raise BadTagFile(entry.reason)
        path = entry.name.decode("utf-8", "replace")
        yield require_inside(path.removeprefix("*")), entry.digests[algorithm]


def require_inside(path: str) -> str:
    """The *path*, which must stay in the bag's folder on any system."""
    if _DRIVE.match(path) or ".." in re.split(r"[/\\]", path):
        raise BadTagFile(f"it lists {path}, which leads out of the bag")
    return path.removeprefix("./")


def tags_in(text: str) -> Sequence[tuple[str, str]]:
    """The labels and values of bag-info.txt; a line that begins with a blank continues a value."""
    tags: list[tuple[str, list[str]]] = []
    for line in _BREAK.split(text):
        label, colon, value = line.partition(":")
        if line[:1] in (" ", "\t") and tags:
            tags[-1][1].append(line.strip())
        elif colon:
            tags.append((label.strip(), [value.strip()]))
        elif line.strip():
            raise BadTagFile(f"a line of it is not a label, a colon and a value: {line[:80]}")
    return [(label, " ".join(values)) for label, values in tags]


def fetches_in(text: str) -> Iterator[Fetch]:
    """The lines of fetch.txt."""
    for line in filter(str.strip, _BREAK.split(text)):
        fetched = _FETCHED.fullmatch(line)
        if fetched is None:
            raise BadTagFile(f"a line of it is not a URL, a length and a path: {line[:80]}")
        url, size, path = fetched.groups()
        yield Fetch(require_inside(path), url, None if size == "-" else int(size))
