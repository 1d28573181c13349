"""Options and notes of commands that read a list of digests."""

from __future__ import annotations

from typing import Final

import click

from bucketsum.algorithms import ALGORITHMS
from bucketsum_cli.manifests.formats import FORMATS
from bucketsum_cli.terminal.output import note

_OTHERS: Final = (
    "sha224", "sha384", "sha3-256", "sha3-512", "blake2b", "blake2s", "blake3", "ripemd160", "sm3",
    "whirlpool",
)  # fmt: skip
"""Algorithms of lists that no row has."""

format_option = click.option(
    "--format",
    "format_name",
    type=click.Choice(list(FORMATS)),
    help="Format of the list; by default, its name and its first lines tell it.",
)

algorithm_option = click.option(
    "--algorithm",
    type=click.Choice([*ALGORITHMS, *_OTHERS]),
    help="Algorithm of its digests; by default, its name, a line's tag or the digits tell it.",
)


def note_all_differ() -> None:
    """Say what a list of another algorithm looks like."""
    note(
        "all of the list differ: is it of another algorithm with as many digits, as b2sum's is? "
        "Then --algorithm names it"
    )
