"""python -m tests.simulation: run schedules, replay one of them, or look for planted bugs."""

# ruff: noqa: T201 - a command prints

from __future__ import annotations

import argparse
import sys
import time
from typing import TYPE_CHECKING, Final

from tests.simulation.planted_bugs import PLANTED_BUGS, SCHEDULES_MAX, first_violation
from tests.simulation.scenario import simulate

if TYPE_CHECKING:
    from collections.abc import Sequence

_PROGRESS_SECONDS: Final = 10.0


def main(arguments: Sequence[str]) -> int:
    """Run the command; returns its exit status: 1 if a promise is broken or a bug not found."""
    parser = argparse.ArgumentParser(prog="python -m tests.simulation", description=__doc__)
    parser.add_argument("--schedules", type=int, default=1000, help="how many; default 1000")
    parser.add_argument("--seed", type=int, default=0, help="of the first schedule; default 0")
    parser.add_argument("--trace", action="store_true", help="print each schedule step by step")
    parser.add_argument(
        "--planted-bugs", action="store_true", help="instead, plant each bug and print the table"
    )
    options = parser.parse_args(arguments)
    if options.planted_bugs:
        return _planted_bugs(options.seed)
    return _schedules(range(options.seed, options.seed + options.schedules), traced=options.trace)


def _schedules(seeds: range, *, traced: bool) -> int:
    started = shown = time.monotonic()
    for number, seed in enumerate(seeds):
        outcome = simulate(seed, traced=traced)
        if traced:
            print(f"seed {seed}", *outcome.steps, sep="\n")
        if outcome.violations:
            steps = outcome.steps if traced else simulate(seed, traced=True).steps
            print(*([] if traced else steps), sep="\n")
            print(f"seed {seed} breaks a promise:", *outcome.violations, sep="\n  ")
            return 1
        if time.monotonic() - shown > _PROGRESS_SECONDS:
            shown = time.monotonic()
            print(f"{number + 1} schedules", file=sys.stderr)
    seconds = time.monotonic() - started
    print(f"{len(seeds)} schedules from seed {seeds.start}: every promise held ({seconds:.0f} s)")
    return 0


def _planted_bugs(first_seed: int) -> int:
    rows = [(bug.name, first_violation(bug, first_seed)) for bug in PLANTED_BUGS]
    print("| planted bug | found after | as |", "|---|---|---|", sep="\n")
    for name, outcome in rows:
        if outcome:
            print(f"| {name} | {outcome.seed - first_seed + 1} | {outcome.violations[0]} |")
        else:
            print(f"| {name} | not in {SCHEDULES_MAX} | |")
    return 0 if all(outcome for _, outcome in rows) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
