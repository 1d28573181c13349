"""Workloads of the sweep in sandboxes: ``python -m bench workloads``."""

import json
import os
from pathlib import Path
from typing import Final

import click

from bench.maven import ProgramUnavailableError
from bench.sandbox.requirements import sandboxes
from bench.sandbox.server import FOLDER
from bench.tables import options
from bench.tables.document import write_json, write_tables
from bench.tables.machine import origin
from bench.tables.options import matching
from bench.tables.table import show
from bench.workloads.experiments import EXPERIMENTS, Experiment
from bench.workloads.languages import records, transfer_manager
from bench.workloads.report import MeasuredWorkload
from bench.workloads.runner import plan, samples_of
from bucketsum_cli.terminal import output
from bucketsum_cli.tune.workloads.fetch.shell import missing_programs
from bucketsum_lab.protocol.samples import Sample
from bucketsum_lab.workloads.transfer.model import ClientName

MEASURED: Final = Path("bench", "measured", "workloads.json")
DOCUMENT: Final = Path("bench", "measured", "workloads.md")
NAMES: Final = (*(experiment.name for experiment in EXPERIMENTS), records.NAME)


@click.command()
@click.option(
    "--only",
    multiple=True,
    metavar="TEXT",
    help=f"Only experiments whose name contains TEXT; may be repeated. Names: {', '.join(NAMES)}.",
)
@options.runs(3)
@click.option(
    "--quick",
    is_flag=True,
    help="One run with small data sets, to check that the benchmark works.",
)
@options.write_docs(str(MEASURED), str(DOCUMENT))
def workloads(
    only: tuple[str, ...],
    runs: int,
    *,
    quick: bool,
    write_docs: bool,
) -> None:
    """Measure the sweep workloads in the benchmark sandbox.

    The measuring code is the same as on Lambda. One experiment compares the same work in Python
    and in C++. Exits with 1 if a result was wrong, and with 2 if the sandbox cannot be created.
    """
    if quick and write_docs:
        raise click.UsageError("--quick measures too little for --write-docs; leave one out")
    before = origin()
    with sandboxes():
        names = matching(only, NAMES)
        measured = [
            _measured(experiment.quickly() if quick else experiment.with_runs(runs))
            for experiment in _experiments(names)
        ]
    tables = [result.table(before) for result in measured]
    if records.NAME in names:
        tables.append(records.table(1 if quick else runs, before, quick=quick))
    show(tables, origin=before)
    documents = {
        result.experiment.name: {"origin": before, **result.as_json()} for result in measured
    }
    write_json(FOLDER / "workloads.json", documents)
    if write_docs:  # experiments that were not measured now keep their numbers
        earlier = json.loads(MEASURED.read_text("utf-8")) if MEASURED.exists() else {}
        write_json(MEASURED, earlier | documents)
        write_tables(DOCUMENT, tables)
    failures = (sample.failure for result in measured for sample in result.samples)
    # a cell that cannot run is not a mistake
    if any(failure and failure.error.startswith("Wrong") for failure in failures):
        raise SystemExit(1)


def _experiments(names: list[str]) -> list[Experiment]:
    for program in missing_programs():
        output.note(f"missing: {program}, which the schedule shell needs")
    chosen = [experiment for experiment in EXPERIMENTS if experiment.name in names]
    clients = [client for experiment in chosen for client in experiment.sweep.get("client", ())]
    if ClientName.JAVA_TRANSFER_MANAGER in clients:
        try:
            os.environ["PATH"] = f"{transfer_manager.built()}:{os.environ['PATH']}"
        except ProgramUnavailableError as error:
            output.note(f"missing: {error}")
    return chosen


def _measured(experiment: Experiment) -> MeasuredWorkload:
    planned, samples = plan(experiment), list[Sample]()
    output.note(f"{experiment.name}: {experiment.title}")
    for sample in samples_of(experiment, planned):
        samples.append(sample)
        result = f"{sample.reading.seconds:.2f} s" if sample.reading else sample.failure
        output.note(f"  {len(samples)}/{planned.samples} {sample.cell_id}: {result}")
    return MeasuredWorkload(experiment, planned, samples)
