"""``python -m bench``: the promises; with a sub-command, one kind of benchmark."""

from __future__ import annotations

import sys

import click

from bench.cost.command import cost
from bench.function import cold_start
from bench.function import command as function
from bench.readers.command import readers
from bench.scaling.command import scaling
from bench.unzip.command import unzip


@click.group(invoke_without_command=True)
@click.pass_context
def bench(context: click.Context) -> None:
    """Measure speed and memory on this machine.

    Without a sub-command: what is promised of the whole system, on the embedded AWS.
    """
    if context.invoked_subcommand is None:
        promises()


def promises() -> None:
    """Measure the whole system; the modules are imported when they are needed."""
    from bench.targets.command import main  # noqa: PLC0415 - the embedded AWS is for this alone

    sys.exit(main())


bench.add_command(readers)
bench.add_command(unzip)
bench.add_command(function.main)
bench.add_command(cold_start.main)
bench.add_command(cost)
bench.add_command(scaling)
bench.command("promises", help="What is promised of the whole system, on the embedded AWS.")(
    promises
)


if __name__ == "__main__":
    bench(prog_name="python -m bench")
