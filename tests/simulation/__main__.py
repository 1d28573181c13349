"""`python -m tests.simulation`: run schedules, replay one of them, or look for planted bugs."""

import time
from pathlib import Path
from typing import Final

import click
from bench.tables.document import write_tables
from bench.tables.options import count
from bench.tables.table import Table
from tests.simulation.planted_bugs import PLANTED_BUGS, SCHEDULES_MAX, first_violation
from tests.simulation.scenario import simulate

DOCUMENT: Final = Path(__file__).parents[2] / "bench" / "measured" / "planted_bugs.md"


@click.command()
@count("--schedules", 1000, "Number of schedules; ignored with --planted-bugs.")
@count("--seed", 0, "Seed of the first schedule.", least=0)
@click.option("--trace", is_flag=True, help="Print each schedule step by step.")
@click.option(
    "--planted-bugs",
    is_flag=True,
    help="Instead, plant known bugs in the code, one at a time, and run up to "
    f"{SCHEDULES_MAX:,} schedules to find each.",
)
@click.option(
    "--write-docs",
    is_flag=True,
    help="With --planted-bugs: write the table to bench/measured/planted_bugs.md.",
)
def main(schedules: int, seed: int, *, trace: bool, planted_bugs: bool, write_docs: bool) -> None:
    """Run the product's own code against models of S3, SQS, DynamoDB and Lambda.

    A schedule is one random sequence of events and faults. If a schedule breaks a promise of
    docs/explanation/reliability.md, the command prints its steps and exits with 1. With
    --planted-bugs, it exits with 1 if a planted bug is not found.
    """
    if planted_bugs:
        _look_for_planted_bugs(seed, write_docs=write_docs)
    else:
        _run(range(seed, seed + schedules), traced=trace)


def _run(seeds: range, *, traced: bool) -> None:
    started = time.monotonic()
    for seed in seeds:
        outcome = simulate(seed, traced=traced)
        if outcome.violations and not traced:
            outcome = simulate(seed, traced=True)
        if outcome.steps:
            click.echo("\n".join([f"seed {seed}", *outcome.steps]))
        if outcome.violations:
            click.echo("\n  ".join([f"seed {seed} breaks a promise:", *outcome.violations]))
            raise SystemExit(1)
    seconds = time.monotonic() - started
    click.echo(f"{len(seeds)} schedules from seed {seeds[0]}: no promise broken ({seconds:.0f} s)")


def _look_for_planted_bugs(seed: int, *, write_docs: bool) -> None:
    outcomes = [(bug.name, first_violation(bug, seed)) for bug in PLANTED_BUGS]
    columns = ("planted bug", "schedules until found", "first broken promise")
    rows = tuple(
        (name, outcome.seed - seed + 1, outcome.violations[0]) if outcome else (name, None, None)
        for name, outcome in outcomes
    )
    table = Table("planted-bugs", columns, rows)
    click.echo(table.markdown())
    if write_docs:
        write_tables(DOCUMENT, [table])
    if not all(outcome for _, outcome in outcomes):
        click.echo(f"not every bug was found within {SCHEDULES_MAX} schedules", err=True)
        raise SystemExit(1)


if __name__ == "__main__":
    main()
