"""Manifests with several fields in a record: CSV, JSON lines, hashdeep."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, Final

from bucketsum.algorithms import ALGORITHMS
from bucketsum_cli.manifests.entries import BadLine, Entry, algorithm_called, as_name, digests_of
from bucketsum_cli.manifests.sums import NO_CR, content_of, is_comment

HASHDEEP_HEAD: Final = b"%%%% HASHDEEP-1.0\n"
_HEADING: Final = b"%%%% size,"
_NAMES: Final = ("key", "name", "filename", "file", "filepath", "path")
_SIZES: Final = ("size_bytes", "size", "filesize")
_DIGESTS: Final = ("hash", "digest", "checksum")
"""Columns of a digest whose algorithm is in the column ``algorithm``, or told by its length."""
_CHECKSUM: Final = ("s3_checksum", "s3_checksum_result")
_DELIMITERS: Final = ",;\t|"
_SUFFIX: Final = re.compile(r"(?<=\d)[ _-]?(?:hash|sum|digest|checksum)$")
_JSON_VALUE: Final = re.compile(r"[^\s,\[\]]")
"""Where a value of an array begins."""
_SIZE_MAX: Final = 50 << 40
"""No object of S3 has more bytes."""
_HASHDEEP_ALGORITHMS: Final = ("md5", "sha1", "sha256")


def is_heading(line: bytes) -> bool:
    """Whether *line* names the columns of a CSV manifest."""
    return _delimiter(line.decode("utf-8", "surrogateescape")) is not None


def _delimiter(line: str) -> str | None:
    """The character between columns if *line* names some; Excel takes that of its language."""
    for delimiter in _DELIMITERS:
        try:
            columns = next(csv.reader([line], delimiter=delimiter), [])
        except csv.Error:
            continue
        if any(_field(name) in (*ALGORITHMS, *_DIGESTS) for name in columns):
            return delimiter
    return None


@dataclass(frozen=True, slots=True)
class Record:
    """Values of CSV, with the numbers of their first and their last line."""

    line: int
    last_line: int
    values: Sequence[str]

    @property
    def shown(self) -> bytes:
        """The values in a line."""
        return ",".join(self.values).encode("utf-8", "surrogateescape")


def csv_records(
    lines: Iterable[bytes], delimiter: str = ",", before: int = 0
) -> Iterator[Record | BadLine]:
    """The records in *lines*, after as many as *before*; what is not CSV ends no other."""
    texts = (line.decode("utf-8", "surrogateescape") for line in lines)
    reader = csv.reader(texts, strict=True, delimiter=delimiter)
    while True:
        line = before + reader.line_num + 1
        try:
            values = next(reader, None)
        except csv.Error as error:
            yield BadLine(line, f"line {line} is not CSV: {error}")
            continue
        if values is None:
            return
        if values:
            yield Record(line, before + reader.line_num, values)


def csv_entries_in(
    lines: Iterable[bytes], _algorithm: str | None = None
) -> Iterator[Entry | BadLine]:
    """Read CSV with a heading: bucketsum's own, and NSRL's, whose names are not keys.

    A line with ``#`` in front is a comment before the heading; and after it, if no other value of
    the first column can begin so.
    """
    lines = iter(lines)
    numbered = ((number, line) for number, line in enumerate(lines) if not is_comment(line))
    before, first = next(numbered, (0, b""))
    delimiter = _delimiter(first.decode("utf-8", "surrogateescape")) or ","
    heading: list[str] = []
    for record in csv_records(chain([first], lines), delimiter, before):
        if isinstance(record, BadLine):
            yield record
        elif not heading:
            heading = [_field(name) for name in record.values]
        elif not _is_comment(record, heading[0]):
            yield _record(heading, record.values, record.line, record.shown)


def _is_comment(record: Record, first_column: str) -> bool:
    return (
        record.values[0].startswith("#")
        and first_column in (*ALGORITHMS, *_DIGESTS, *_SIZES)
        and record.line == record.last_line
    )


def json_entries_in(
    lines: Iterable[bytes], _algorithm: str | None = None
) -> Iterator[Entry | BadLine]:
    """Read a JSON object in each line, or in one array, as `rclone lsjson --hash` prints it."""
    for number, content in _json_texts(content_of(lines)):
        try:
            pairs = json.loads(content, object_pairs_hook=list)
            pairs += next((value for column, value in pairs if column == "Hashes"), [])
            columns, values = zip(*pairs, strict=True)
        except (ValueError, TypeError, RecursionError):
            columns, values = (), ()
        yield _record(columns, values, number, content)


def _json_texts(lines: Iterator[tuple[int, bytes]]) -> Iterator[tuple[int, bytes]]:
    """The text of each object, and of all else: lines, unless an array or an object has several."""
    number, first = next(lines, (0, b""))
    is_array = first.lstrip().startswith(b"[")
    if not is_array and first.strip() != b"{":
        yield from chain([(number, first)] if number else [], lines)
        return
    joined = b"\n".join([first, *(content for _, content in lines)])
    text, seen, place = joined.decode("utf-8", "surrogateescape"), 0, 0
    while value := _JSON_VALUE.search(text, place):
        number, seen = number + text.count("\n", seen, value.start()), value.start()
        try:
            _, place = json.JSONDecoder().raw_decode(text, seen)
        except (ValueError, RecursionError):
            place = len(text)
        yield number, text[seen:place].encode("utf-8", "surrogateescape")
    if is_array and not joined.rstrip().endswith(b"]"):
        yield number, b"the array has no end"


def hashdeep_entries_in(
    lines: Iterable[bytes], _algorithm: str | None = None
) -> Iterator[Entry | BadLine]:
    """Read what `hashdeep` prints."""
    columns = [""]
    for number, content in content_of(lines):
        if content.startswith(_HEADING):
            columns = content.removeprefix(_HEADING[:5]).decode("ascii", "replace").split(",")
        elif not content.startswith((b"%%%%", b"##")):
            values = content.decode("utf-8", "surrogateescape").split(",", len(columns) - 1)
            has_cr = content.endswith(b"\r")
            record = _record(columns, values, number, content)
            yield BadLine.of(number, NO_CR, content) if has_cr else record


def csv_head(_algorithm: str) -> bytes:
    """The heading of bucketsum's own CSV."""
    return _csv_line([_NAMES[0], _SIZES[0], *ALGORITHMS, *_CHECKSUM])


def csv_line(entry: Entry, _algorithm: str) -> bytes:
    """The record with all its digests, and S3's checksum."""
    size = "" if entry.size_bytes is None else entry.size_bytes
    name = entry.name.decode("utf-8", "surrogateescape")
    digests = (entry.digests.get(algorithm, "") for algorithm in ALGORITHMS)
    return _csv_line([name, size, *digests, *entry.checksum])


def json_line(entry: Entry, _algorithm: str) -> bytes:
    """The object with all its digests, and S3's checksum."""
    known = {_NAMES[0]: entry.name.decode("utf-8", "surrogateescape")}
    sizes = {} if entry.size_bytes is None else {_SIZES[0]: entry.size_bytes}
    checksum = {name: text for name, text in zip(_CHECKSUM, entry.checksum, strict=True) if text}
    return json.dumps({**known, **sizes, **entry.digests, **checksum}).encode() + b"\n"


def hashdeep_head(algorithm: str) -> bytes:
    """The two lines before all others."""
    return HASHDEEP_HEAD + _HEADING + algorithm.encode() + b",filename\n"


def hashdeep_line(entry: Entry, algorithm: str) -> bytes | str:
    """The line as `hashdeep -l -r .` prints it, or why there is none."""
    if algorithm not in _HASHDEEP_ALGORITHMS:
        return f"hashdeep has no {algorithm}"
    if entry.size_bytes is None:
        return "hashdeep's lists need sizes"
    if b"\n" in entry.name or b"\r" in entry.name:
        return "hashdeep's lists have no escapes for line breaks"
    return b"%d,%s,./%s\n" % (entry.size_bytes, entry.digests[algorithm].encode(), entry.name)


def _csv_line(values: Iterable[object]) -> bytes:
    line = io.StringIO()
    csv.writer(line, lineterminator="\r\n").writerow(values)  # it quotes the characters of these
    return line.getvalue().removesuffix("\r\n").encode("utf-8", "surrogateescape") + b"\n"


def _field(column: str) -> str:
    """The field that a *column* is called: ``sha256`` for SHA-256, sha256sum and SHA256_hash."""
    return _SUFFIX.sub("", algorithm_called(column.strip()))


def _digests_in(fields: dict[str, Any]) -> dict[str, str]:
    """The digests of a record; empty digits stand for what is none."""
    digests: dict[str, str] = {}
    for algorithm in [name for name in ALGORITHMS if name in fields]:
        text = str(fields[algorithm]).strip()
        digests |= digests_of(text, algorithm) or {algorithm: ""}
    named = algorithm_called(str(fields.get("algorithm", ""))) or None
    for text in [str(fields[name]).strip() for name in _DIGESTS if name in fields and not digests]:
        digests |= digests_of(text, named) or {"": ""}
    return digests


def _entry_of(columns: Sequence[str], values: Sequence[Any], line: int) -> Entry:
    """The entry of a record, by the names of its *columns*; without one for names, it has none.

    Raises:
        ValueError: It has no digest or an empty name, two values of one, or one that no object has.
    """
    fields: dict[str, Any] = {}
    for column, value in zip(map(_field, columns), values, strict=True):
        if value not in (None, "") and fields.setdefault(column, value) != value:
            raise ValueError(column)
    digests = _digests_in(fields)
    given = [str(fields[field]) for field in _NAMES if field in fields]
    text = next((path for path in given if path.endswith(f"/{given[0]}")), next(iter(given), ""))
    name = text.encode("utf-8", "surrogateescape")
    size = next((int(fields[field]) for field in _SIZES if field in fields), None)
    is_nameless = not name and not any(_field(column) in _NAMES for column in columns)
    if not (digests and all(digests.values()) and (name or is_nameless)):
        raise ValueError(name)
    if size is not None and not 0 <= size <= _SIZE_MAX:
        raise ValueError(size)
    return Entry(name if text == fields.get(_NAMES[0]) else as_name(name), digests, size, line)


def _record(
    columns: Sequence[str], values: Sequence[Any], line: int, content: bytes
) -> Entry | BadLine:
    try:
        if b"\0" not in content:  # JSON has an escape for it
            return _entry_of(columns, values, line)
    except (ValueError, AttributeError, TypeError, OverflowError):
        pass
    return BadLine.of(line, "a record with a name and a digest", content)
