"""The formats of manifests: how each is recognized, read and written."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import chain
from typing import IO, Final

from bucketsum_cli.manifests import records, sums
from bucketsum_cli.manifests.entries import BadLine, Entry, algorithm_called, is_told_by_digits
from bucketsum_cli.manifests.lines import COMPRESSED, lines_of
from bucketsum_cli.terminal.errors import CannotDoError
from bucketsum_cli.terminal.output import note

FOLDER_MARKER: Final = "a folder marker"
"""Why an empty object with a key like ``folder/`` has no line."""
_LISTS: Final = "give a list, plain or as gzip, bzip2 or xz; of JSON, an object in each line"
_ALGORITHM: Final = r"(?:md5|sha-?[\dt-]+|b[23]|blake\w+|rmd\d*|ripemd\d*|sm3|k12|whirlpool)"
_FILE: Final = re.compile(
    rf"(?:(?:tag)?(?P<bag>manifest)-(?P<a>{_ALGORITHM})\.txt"
    rf"|(?P<b>{_ALGORITHM})sums?(?:\.txt)?|.+\.(?P<c>{_ALGORITHM})(?:sums?)?(?:\.txt)?){COMPRESSED}",
    re.IGNORECASE,
)
"""Names of files that say the algorithm: manifest-sha256.txt, SHA256SUMS, photos.sha1."""


@dataclass(frozen=True, slots=True)
class Format:
    """A format of manifests.

    Attributes:
        name: The value of ``--format``.
        parse: Lines, with their ends, and the algorithm of digests that do not say it (None: their
            length does) → entries; a line that is none does not end the others.
        line: Entry and algorithm → its line, or why the format has none.
        head: Algorithm → what comes before all lines.
        has_markers: Whether it has empty objects that stand for folders: no program opens them.
        has_nul: Whether a name may have a NUL.
        has_one_digest: Whether its line has the digest of one algorithm, and no other.
    """

    name: str
    parse: Callable[[Iterable[bytes], str | None], Iterator[Entry | BadLine]]
    line: Callable[[Entry, str], bytes | str]
    head: Callable[[str], bytes] = lambda _algorithm: b""
    has_markers: bool = False
    has_nul: bool = False
    has_one_digest: bool = True

    def lines(self, entries: Iterable[Entry | bytes], algorithm: str) -> Iterator[bytes | BadLine]:
        """The lines of *entries*, with the digests of *algorithm*; bytes are lines already."""
        if head := self.head(algorithm):
            yield head
        for number, entry in enumerate(entries, 1):
            if isinstance(entry, bytes):
                yield entry
                continue
            reason = self._reason(entry)
            if reason is None and algorithm not in entry.digests:
                reason = not_recorded(algorithm)
            line = reason or self.line(entry, algorithm)
            yield line if isinstance(line, bytes) else BadLine(number, line)

    def _reason(self, entry: Entry) -> str | None:
        """Why *entry* has no line, whatever its digests are."""
        name = entry.name
        if entry.size_bytes == 0 and (not name or (name[-1:] == b"/" and not self.has_markers)):
            return FOLDER_MARKER
        if not name and self.name != "digests":
            return "an empty name"
        return "a NUL in the name" if b"\0" in name and not self.has_nul else None


def not_recorded(algorithm: str) -> str:
    """Why an object without a digest of *algorithm* has no line."""
    return f"no {algorithm} is recorded"


SUM: Final = Format("sum", sums.sums_in, sums.sum_line)
BAGIT: Final = Format("bagit", sums.bag_entries_in, sums.bag_line)
HASHDEEP: Final = Format(
    "hashdeep", records.hashdeep_entries_in, records.hashdeep_line, records.hashdeep_head
)
CSV: Final = Format(
    "csv",
    records.csv_entries_in,
    records.csv_line,
    records.csv_head,
    has_markers=True,
    has_one_digest=False,
)
JSONL: Final = Format(
    "jsonl",
    records.json_entries_in,
    records.json_line,
    has_markers=True,
    has_nul=True,
    has_one_digest=False,
)
DIGESTS: Final = Format(
    "digests", sums.digests_in, sums.digest_line, has_markers=True, has_nul=True
)

FORMATS: Final = {
    format_.name: format_
    for format_ in (
        SUM,
        Format("tag", sums.sums_in, sums.tagged_line),
        BAGIT,
        HASHDEEP,
        Format("rclone", sums.exact_sums_in, sums.exact_line),
        CSV,
        JSONL,
        DIGESTS,
    )
}


def is_manifest_name(file: str) -> bool:
    """Whether *file* is called as manifests are: SHA256SUMS, photos.sha1."""
    return _FILE.fullmatch(file) is not None


def entries_in(
    stream: IO[bytes], file: str, format_: Format | None = None, algorithm: str | None = None
) -> Iterator[Entry | BadLine]:
    """Read the manifest *stream*.

    Its name, *file*, and its first line that is not a comment tell its format and its algorithm.

    Raises:
        CannotDoError: As `lines_of`; or it is not text, or JSON that is not in lines.
    """
    if stream.isatty():
        note("reads lines of `sha1sum` from the terminal; Ctrl-D ends them")
    lines = lines_of(stream, file)
    head = []
    for line in lines:
        if b"\0" in line:
            raise CannotDoError(f"{file} is not text in lines of up to 1 MiB; {_LISTS}")
        head.append(line)
        if any(sums.content_of([line])):
            break
    name = _FILE.fullmatch(re.split(r"[/\\]", file)[-1])
    chosen = format_ or (BAGIT if name and name["bag"] else _format_of(head))
    named = algorithm_called(name["a"] or name["b"] or name["c"]) if name else ""
    told_by_digits = named in ("", "sha2") or is_told_by_digits(named)
    yield from chosen.parse(chain(head, lines), algorithm or (None if told_by_digits else named))


def _format_of(head: Iterable[bytes]) -> Format:
    first = next((content for _, content in sums.content_of(head)), b"")
    if first.startswith(records.HASHDEEP_HEAD.strip()):
        return HASHDEEP
    if first.lstrip().startswith((b"{", b"[")):
        return JSONL
    if sums.is_digest(first):
        return DIGESTS
    return CSV if records.is_heading(first) else SUM
