"""All benchmarks: ``python -m bench``; without a subcommand, the targets."""

import click

from bench.cost.command import cost
from bench.cost.digests import digests
from bench.cost.price_list import prices
from bench.function.cold_start import cold_start
from bench.function.command import function
from bench.readers.command import readers
from bench.snapshot.command import snapshot
from bench.targets.command import targets
from bench.unzip.command import unzip
from bench.workloads.command import workloads


@click.group(invoke_without_command=True)
@click.pass_context
def bench(context: click.Context) -> None:
    """Measure or compute speed, memory and cost.

    Without a subcommand, runs `targets`. docs/measurements.md explains the benchmarks.
    """
    if context.invoked_subcommand is None:
        context.invoke(targets)


for command in (
    targets,
    readers,
    function,
    cold_start,
    cost,
    digests,
    prices,
    snapshot,
    unzip,
    workloads,
):
    bench.add_command(command)


if __name__ == "__main__":
    bench(prog_name="python -m bench")
