"""Options that several commands share."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import click
from click.decorators import FC

from bucketsum.prices import STORED_BYTE_MONTH


class JsonOption(click.Option):
    """The option ``--json``, with the types of the documents that it prints."""

    def __init__(self, *args: Any, documents: Sequence[type], **settings: Any) -> None:  # noqa: ANN401 - click's
        super().__init__(*args, **settings)
        self.documents = documents


def json_option(*documents: type) -> Callable[[FC], FC]:
    """The option ``--json``, which prints one of *documents*."""
    return click.option(
        "--json",
        "as_json",
        is_flag=True,
        help="Print the result as JSON.",
        cls=JsonOption,
        documents=documents,
    )


exclude_option = click.option(
    "--exclude",
    multiple=True,
    metavar="PATTERN",
    help="Leave out files and folders with this name or path, such as '*.tmp'; may be repeated.",
)

yes_option = click.option("--yes", "-y", is_flag=True, help="Do not ask for confirmation.")

count_option = click.option(
    "--count",
    is_flag=True,
    help="Count exactly, by listing the bucket. By default, only buckets of up to a million "
    "objects are listed; for larger ones, CloudWatch's figures are shown.",
)


def prefix_option(text: str) -> Callable[[FC], FC]:
    """The option ``--prefix`` with the help *text*."""
    return click.option("--prefix", default="", metavar="TEXT", help=text)


def storage_class_option(text: str) -> Callable[[FC], FC]:
    """The option ``--storage-class`` with the help *text*, as ``storage_classes``."""
    return click.option(
        "--storage-class",
        "storage_classes",
        multiple=True,
        type=click.Choice([*STORED_BYTE_MONTH], case_sensitive=False),
        metavar="CLASS",
        help=text,
    )


def limit_option(text: str, default: int = 20, most: int = 10_000) -> Callable[[FC], FC]:
    """The option ``--limit`` with the help ``Maximum number of`` *text*."""
    return click.option(
        "--limit",
        type=click.IntRange(1, most),
        default=default,
        show_default=True,
        metavar="N",
        help=f"Maximum number of {text}.",
    )


class FiniteRange(click.FloatRange):
    """A range of finite numbers; click's range also accepts ``nan`` and ``inf``."""

    def convert(
        self, value: str | float, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        """Return the number; refuse ``nan`` and ``inf``."""
        number: float = super().convert(value, param, ctx)
        if not math.isfinite(number):
            self.fail(f"{value} is not a number.", param, ctx)
        return number


def output_option(text: str, default: str | None = None) -> Callable[[FC], FC]:
    """The option ``--output`` with the help *text*; its value is for `write_text`."""
    file = click.Path(path_type=Path, allow_dash=True)
    text = f"{text} An existing file is replaced."
    return click.option(
        "-o", "--output", "file", type=file, metavar="FILE", default=default, help=text
    )
