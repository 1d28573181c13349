"""Manifests with several fields in a record: CSV, JSON lines, hashdeep."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final

from bucketsum.algorithms import ALGORITHMS
from bucketsum_cli.manifests.entries import (
    BadLine,
    Entry,
    algorithm_called,
    as_name,
    digests_of,
)
from bucketsum_cli.manifests.sums import NO_CR, content_of

HASHDEEP_HEAD: Final = b"%%%% HASHDEEP-1.0\n"
_HEADING: Final = b"%%%% size,"
_NAMES: Final = ("key", "name", "filename", "path")
_SIZES: Final = ("size_bytes", "size", "filesize")
_SIZE_MAX: Final = (1 << 63) - 1
_HASHDEEP_ALGORITHMS: Final = ("md5", "sha1", "sha256")


def is_heading(line: bytes) -> bool:
    """Whether *line* names the columns of a CSV manifest."""
    try:
        columns = next(csv.reader([line.decode("utf-8-sig")]), [])
    except (UnicodeDecodeError, csv.Error):
        return False
    return any(algorithm_called(name) in ALGORITHMS for name in columns)


def csv_entries_in(
    lines: Iterable[bytes], _algorithm: str | None = None
) -> Iterator[Entry | BadLine]:
    """Read CSV with a heading: bucketsum's own, and NSRL's, whose names are no keys."""
    texts = (line.decode("utf-8", "surrogateescape") for line in lines)
    reader = csv.reader(texts, strict=True)
    heading: list[str] = []
    while True:
        line = reader.line_num + 1
        try:
            values = next(reader, None)
        except csv.Error as error:
            yield BadLine(line, f"line {line} is not CSV: {error}")
            continue
        if values is None:
            return
        if not heading:
            heading = [name.removeprefix("\ufeff") for name in values]
        elif values:
            shown = ",".join(values).encode("utf-8", "surrogateescape")
            yield _record(heading, values, line, shown)


def json_entries_in(
    lines: Iterable[bytes], _algorithm: str | None = None
) -> Iterator[Entry | BadLine]:
    """Read a JSON object in each line."""
    for number, content in content_of(lines):
        try:
            pairs = json.loads(content, object_pairs_hook=list)
            columns, values = zip(*pairs, strict=True)
        except (ValueError, TypeError, RecursionError):
            columns, values = (), ()
        yield _record(columns, values, number, content)


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
    return _csv_line([_NAMES[0], _SIZES[0], *ALGORITHMS])


def csv_line(entry: Entry, _algorithm: str) -> bytes:
    """The record with all its digests."""
    size = "" if entry.size_bytes is None else entry.size_bytes
    name = entry.name.decode("utf-8", "surrogateescape")
    return _csv_line([name, size, *(entry.digests.get(name, "") for name in ALGORITHMS)])


def json_line(entry: Entry, _algorithm: str) -> bytes:
    """The object with all its digests."""
    known = {_NAMES[0]: entry.name.decode("utf-8", "surrogateescape")}
    sizes = {} if entry.size_bytes is None else {_SIZES[0]: entry.size_bytes}
    return json.dumps({**known, **sizes, **entry.digests}).encode() + b"\n"


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


def _entry_of(columns: Sequence[str], values: Sequence[Any], line: int) -> Entry:
    """The entry of a record, by the names of its *columns*.

    Raises:
        ValueError: It has no digest or no name, two values of one, or one that no object has.
    """
    fields: dict[str, Any] = {}
    for column, value in zip(columns, values, strict=True):
        field = algorithm_called(column)
        if value not in (None, "") and fields.setdefault(field, value) != value:
            raise ValueError(column)
    digests: dict[str, str] = {}
    for algorithm in [name for name in ALGORITHMS if name in fields]:
        digests |= digests_of(str(fields[algorithm]), algorithm) or {algorithm: ""}
    named = next((field for field in _NAMES if field in fields), "")
    name = str(fields.get(named, "")).encode("utf-8", "surrogateescape")
    size = next((int(fields[field]) for field in _SIZES if field in fields), None)
    if not (name and digests and all(digests.values())) or b"\0" in name:
        raise ValueError(name)
    if size is not None and not 0 <= size <= _SIZE_MAX:
        raise ValueError(size)
    return Entry(name if named == _NAMES[0] else as_name(name), digests, size, line)


def _record(
    columns: Sequence[str], values: Sequence[Any], line: int, content: bytes
) -> Entry | BadLine:
    try:
        return _entry_of(columns, values, line)
    except (ValueError, AttributeError, TypeError, OverflowError):
        return BadLine.of(line, "a record with a name and a digest", content)
