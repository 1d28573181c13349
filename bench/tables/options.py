"""Options that several benchmarks share."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from click.decorators import FC


def count(name: str, default: int, text: str, least: int = 1) -> Callable[[FC], FC]:
    """Return an option for an integer of at least *least*, with the help *text*."""
    return click.option(
        name,
        type=click.IntRange(least),
        default=default,
        show_default=True,
        metavar="N",
        help=text,
    )


def runs(default: int) -> Callable[[FC], FC]:
    """The number of runs of each measurement."""
    return count("--runs", default, "Number of runs of each measurement.")


def matching(parts: Sequence[str], names: Sequence[str]) -> list[str]:
    """The *names* that contain one of *parts*; all of them if there are no parts.

    Raises:
        ValueError: No name contains one of the parts.
    """
    for part in parts:
        if not any(part in name for name in names):
            raise ValueError(f"no name contains {part!r}; there are {', '.join(names)}")
    return [name for name in names if not parts or any(part in name for part in parts)]


def write_docs(*files: str) -> Callable[[FC], FC]:
    """Whether the tables are also written to *files* of the project."""
    listed = " and ".join(files)
    return click.option("--write-docs", is_flag=True, help=f"Also write the tables to {listed}.")
