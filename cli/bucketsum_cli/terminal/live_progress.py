"""Live progress on stderr."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import TYPE_CHECKING, TypeVar

from bucketsum_cli.terminal.output import note
from bucketsum_cli.terminal.screen import is_terminal

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress

_Item = TypeVar("_Item")


def notes() -> Console:
    """Return the console for spinners and progress: stderr."""
    from rich.console import Console  # noqa: PLC0415 - takes a tenth of a second

    return Console(stderr=True, markup=False, emoji=False, highlight=False)


def spinner(text: str) -> AbstractContextManager[object]:
    """Show that the block takes its time, if stderr is a terminal."""
    return notes().status(text) if is_terminal(sys.stderr) else nullcontext()


def progress(text: str = "", *, in_bytes: bool = False, passing: bool = False) -> Progress:
    """Make live progress on stderr: description, a bar, *text*, elapsed time.

    *text* is a format of the task. With *in_bytes*, size and speed precede it. If *passing*,
    nothing stays at the end.
    """
    from rich import progress as bars  # noqa: PLC0415 - as `notes`

    console = notes()
    speed = (bars.DownloadColumn(), bars.TransferSpeedColumn()) if in_bytes else ()
    return bars.Progress(
        bars.TextColumn("{task.description:>8}"),
        bars.BarColumn(20),
        *speed,
        bars.TextColumn(text, markup=False),  # a key may look like markup
        bars.TimeElapsedColumn(),
        console=console,
        transient=passing,
        disable=passing and not console.is_terminal,
    )


def with_bar(items: Iterable[_Item], task: str, total: int | None = None) -> Iterator[_Item]:
    """Yield *items*; a bar counts them, and disappears at the end."""
    with progress("{task.completed:,.0f}", passing=True) as shown:
        yield from shown.track(items, total=total, description=task)


@contextmanager
def note_after(seconds: float, text: str) -> Iterator[None]:
    """Show the note *text* if the block takes longer than *seconds*."""
    timer = threading.Timer(seconds, note, [text])
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
