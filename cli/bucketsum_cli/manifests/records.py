"""Manifests with several fields in a record: CSV, JSON lines, hashdeep."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any, Final

from bucketsum.algorithms import ALGORITHMS
from bucketsum_cli.manifests.entries import (
    BadLine,
    Entry,
    algorithm_called,
    as_name,
    digests_of,
)
from bucketsum_cli.manifests.sums import content_of

HASHDEEP_HEAD: Final = b"%%%% HASHDEEP-1.0\n"
_HEADING: Final = b"%%%% size,"
_NAMES: Final = ("key", "name", "filename", "path")
_SIZES: Final = ("size_bytes", "size", "filesize")
_HASHDEEP_ALGORITHMS: Final = ("md5", "sha1", "sha256")


def is_heading(line: bytes) -> bool:
    """Whether *line* names the columns of a CSV manifest."""
    try:
        columns = next(csv.reader([line.decode("utf-8-sig")]), [])
    except (UnicodeDecodeError, csv.Error):
        return False
    return any(algorithm_called(name) in ALGORITHMS for name in columns)


def csv_entries_in(lines: Iterable[bytes]) -> Iterator[Entry | BadLine]:
    """Read CSV with a heading: bucketsum's own, and NSRL's, whose names are no keys."""
    texts = (line.decode("utf-8", "surrogateescape") for line in lines)
    reader = csv.reader(texts, strict=True)
    heading = [name.removeprefix("\ufeff") for name in next(reader, [])]
    while True:
        line = reader.line_num + 1
        try:
            values = next(reader, None)
        except csv.Error as error:
            yield BadLine(line, f"line {line} is not CSV: {error}")
            continue
        if values is None:
            return
        if values:
            fields = dict(zip(heading, values, strict=False))
            shown = ",".join(values).encode("utf-8", "surrogateescape")
            yield _record(fields if len(values) == len(heading) else {}, line, shown)


def json_entries_in(lines: Iterable[bytes]) -> Iterator[Entry | BadLine]:
    """Read a JSON object in each line."""
    for number, content in content_of(lines):
        try:
            fields = json.loads(content)
        except (ValueError, RecursionError):
            fields = None
        yield _record(fields if isinstance(fields, dict) else {}, number, content)


def hashdeep_entries_in(lines: Iterable[bytes]) -> Iterator[Entry | BadLine]:
    """Read what `hashdeep` prints."""
    columns = [""]
    for number, content in content_of(lines):
        if content.startswith(_HEADING):
            columns = content.removeprefix(_HEADING[:5]).decode("ascii", "replace").split(",")
        elif not content.startswith((b"%%%%", b"##")):
            values = content.decode("utf-8", "surrogateescape").split(",", len(columns) - 1)
            fields = dict(zip(columns, values, strict=False))
            entry = _record(fields if len(values) == len(columns) else {}, number, content)
            yield (replace(entry, name=as_name(entry.name)) if isinstance(entry, Entry) else entry)


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


def _entry_of(fields: Mapping[str, Any], line: int) -> Entry | None:
    """The entry of a record, by the names of its fields; None if a digest or the size is damaged.

    Raises:
        ValueError: Its size is no number, or its name has no bytes.
    """
    values = {name.lower(): value for name, value in fields.items() if value not in (None, "")}
    digests: dict[str, str] = {}
    for field, value in values.items():
        if (algorithm := algorithm_called(field)) in ALGORITHMS:
            digest = digests_of(str(value), algorithm)
            if digest is None:
                return None
            digests |= digest
    name = str(next((values[field] for field in _NAMES if field in values), ""))
    size = next((int(values[field]) for field in _SIZES if field in values), None)
    return Entry(name.encode("utf-8", "surrogateescape"), digests, size, line) if digests else None


def _record(fields: Mapping[str, Any], line: int, content: bytes) -> Entry | BadLine:
    try:
        entry = _entry_of(fields, line)
    except (ValueError, TypeError):
        entry = None
    return entry or BadLine.of(line, "a record with a digest", content)
