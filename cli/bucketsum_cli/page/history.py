"""Totals of the pages before: a line for each, in a file for each table that pages are about."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

from bucketsum_cli.page.figures import Figures, total
from bucketsum_cli.snapshots.folder import Snapshot, snapshots_folder
from bucketsum_cli.terminal.output_files import append_line

_PAGES_MAX: Final = 12
_BYTES_MAX: Final = 64 * 1024


@dataclass(frozen=True, slots=True)
class PageTotals:
    """Totals of a page, of the rows of one time; states have those of rows without objects too."""

    ended_at: str
    objects: int
    size_bytes: int
    states: Mapping[str, int]


def totals_of(snapshot: Snapshot, figures: Figures) -> PageTotals:
    """The totals of the page of *snapshot*."""
    count, size = total(figures.stored), total(figures.stored, "size_bytes")
    return PageTotals(snapshot.ended_at, count, size, figures.states)


def pages_before(snapshot: Snapshot) -> list[PageTotals]:
    """The last pages with older rows of the same table, the newest first."""
    file = _file(snapshot)
    try:
        with file.open("rb") as lines:
            lines.seek(max(0, file.stat().st_size - _BYTES_MAX))
            read = [*map(_read, lines.read().splitlines())]
    except OSError:  # the first page
        return []
    pages = {page.ended_at: page for page in read if page and page.ended_at < snapshot.ended_at}
    return [pages[ended_at] for ended_at in sorted(pages, reverse=True)[:_PAGES_MAX]]


def keep(snapshot: Snapshot, totals: PageTotals) -> None:
    """Add the totals of a page that was written."""
    append_line(_file(snapshot), json.dumps(asdict(totals)))


def _file(snapshot: Snapshot) -> Path:
    name = hashlib.sha256(json.dumps(snapshot.source).encode()).hexdigest()[:32]
    return snapshots_folder().with_name("pages") / f"{name}.jsonl"


def _read(line: bytes) -> PageTotals | None:
    """The totals in a *line*; None if another program, or a crash, has changed it."""
    try:
        values: dict[str, Any] = json.loads(line)
        page = PageTotals(**values)
        texts: Sequence[object] = (page.ended_at, *page.states)
        numbers: Sequence[object] = (page.objects, page.size_bytes, *page.states.values())
    except (AttributeError, TypeError, ValueError, RecursionError):
        return None
    is_whole = all(isinstance(text, str) for text in texts)
    return page if is_whole and all(isinstance(number, int) for number in numbers) else None
