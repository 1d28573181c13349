"""Options and notes of commands that read a list of digests."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import wraps
from typing import IO, Any, Final

import click

from bucketsum.algorithms import ALGORITHMS
from bucketsum_cli.manifests.entries import BadLine, Entry
from bucketsum_cli.manifests.formats import FORMATS, Format, entries_in
from bucketsum_cli.terminal.output import note

_OTHERS: Final = (
    "sha224", "sha384", "sha3-256", "sha3-512", "blake2b", "blake2s", "blake3", "ripemd160", "sm3",
    "whirlpool",
)  # fmt: skip
"""Algorithms of lists that no row has."""


@dataclass(frozen=True, slots=True)
class ListForm:
    """The format of a list, and the algorithm of its digests; None is told by the list itself."""

    format_: Format | None = None
    algorithm: str | None = None

    def entries_in(self, stream: IO[bytes], file: str) -> Iterator[Entry | BadLine]:
        """Read the list *stream*, whose name is *file*; raises as `formats.entries_in`."""
        return entries_in(stream, file, self.format_, self.algorithm)


def list_options(command: Callable[..., None]) -> Callable[..., None]:
    """Give *command* the options ``--format`` and ``--algorithm`` of a list, as ``form``."""

    @click.option(
        "--format",
        "format_name",
        type=click.Choice(list(FORMATS)),
        help="Format of the list; by default, its name and its first lines tell it.",
    )
    @click.option(
        "--algorithm",
        type=click.Choice([*ALGORITHMS, *_OTHERS]),
        help="Algorithm of its digests; by default, its name, a line's tag or the digits tell it.",
    )
    @wraps(command)
    def with_form(format_name: str | None, algorithm: str | None, **given: Any) -> None:  # noqa: ANN401 - the command's types
        command(form=ListForm(FORMATS.get(format_name or ""), algorithm), **given)

    return with_form


def note_all_differ() -> None:
    """Say what a list of another algorithm looks like."""
    note(
        "all of the list differ: is it of another algorithm with as many digits, as b2sum's is? "
        "Then --algorithm names it"
    )
