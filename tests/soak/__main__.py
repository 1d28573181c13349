"""`python -m tests.soak`: objects through the local emulator while everything around fails."""

import time
from pathlib import Path
from typing import Final

import click
from bench.signals import unwind_on_signals
from bench.tables.document import write_tables
from bench.tables.options import count
from tests.soak.report import Report
from tests.soak.run import Moment, Soak

from bucketsum_cli.arguments.options import json_option
from bucketsum_cli.commands.local.deployment import bring_up, locked
from bucketsum_cli.emulator import launcher
from bucketsum_cli.emulator.emulator_state import LocalProject
from bucketsum_cli.terminal import output
from bucketsum_cli.terminal.errors import CannotDoError

_ROOT: Final = Path(__file__).parents[2]
_DOCUMENT: Final = _ROOT / "bench" / "measured" / "soak.md"
_SHOWN_EVERY_SECONDS: Final = 5.0
_PROBLEMS_SHOWN: Final = 20


class _Progress:
    """Prints a line every few seconds."""

    def __init__(self, objects: int) -> None:
        self._objects = objects
        self._started = time.monotonic()
        self._shown = self._started

    def show(self, moment: Moment) -> None:
        """Print *moment*, unless the last line is new."""
        now = time.monotonic()
        if now - self._shown < _SHOWN_EVERY_SECONDS:
            return
        self._shown = now
        output.note(
            f"{now - self._started:6,.0f} s  {moment.step}: {moment.objects:,} of "
            f"{self._objects:,} uploaded, {moment.waiting:,} messages waiting, "
            f"{moment.faults:,} faults"
        )


@click.command()
@count("--objects", 100_000, "Number of objects.")
@count("--seed", 1, "Seed of the objects and faults.", least=0)
@json_option()
@click.option("--write-docs", is_flag=True, help="Write the result to bench/measured/soak.md.")
def main(objects: int, seed: int, *, as_json: bool, write_docs: bool) -> None:
    """Hash objects on a new local emulator while its parts fail at random.

    Workers (processes that run the functions) are killed, connections are cut, and S3 answers with
    errors, resets and stalls. Exits with 1 if an object version is not recorded, a row is wrong, a
    malformed message is not in the dead-letter queue with a reason, the memory of a worker varies
    by more than 5 %, or the functions log more than 4,000 bytes per event.
    """
    unwind_on_signals()
    project = LocalProject.at(_ROOT).separate("soak")
    try:
        with locked(project):
            report = _run(project, objects, seed)
    except CannotDoError as error:
        raise click.ClickException(str(error)) from None
    problems = list(report.problems())
    if as_json:
        output.print_json(report.as_json())
    else:
        report.table().show()
    if write_docs:
        write_tables(_DOCUMENT, [report.table()])
    for problem in problems[:_PROBLEMS_SHOWN]:
        output.note(problem)
    if problems:
        raise SystemExit(1)


def _run(project: LocalProject, objects: int, seed: int) -> Report:
    """Deploy, run, and stop the emulator in any case."""
    try:
        stack = bring_up(project, {"ArchiveSuffixes": ".zip"})
        return Soak(stack, project, objects, seed, _Progress(objects).show).run()
    finally:
        launcher.stop(project)


if __name__ == "__main__":
    main()
