"""The local emulator compared with the sandbox: ``python -m bench emulator``."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

import click

from bench.emulator.comparison import Comparison
from bench.emulator.places import Place, in_sandbox, on_emulator
from bench.sandbox.requirements import missing, refusal, refusals_are_status_2
from bench.sandbox.server import FOLDER, PROJECT
from bench.signals import unwind_on_signals
from bench.tables import options
from bench.tables.document import write_json, write_tables
from bench.tables.machine import origin
from bench.tables.table import show
from bucketsum_cli.terminal import output
from bucketsum_lab.plan.input import SweepInput
from bucketsum_lab.plan.plan import Plan, plan_of
from bucketsum_lab.results.record_values import item_values, sample_of

if TYPE_CHECKING:
    from pathlib import Path

    from bucketsum_lab.protocol.samples import Sample

SWEEP: Final = PROJECT / "events" / "sweep-streams.json"
MEASURED: Final = PROJECT / "bench" / "measured" / "emulator.json"
DOCUMENT: Final = PROJECT / "bench" / "measured" / "emulator.md"
MEMORY_MB_MAX: Final = 1769
"""One CPU; with more, the prober and the servers need more than the two cores of the machine."""


def fields() -> dict[str, Any]:
    """The sweep's input, without the memory sizes above `MEMORY_MB_MAX`."""
    sweep: dict[str, Any] = json.loads(SWEEP.read_text("utf-8"))
    return {**sweep, "memory_mb": [mb for mb in sweep["memory_mb"] if mb <= MEMORY_MB_MAX]}


def planned(sweep: Mapping[str, Any]) -> Plan:
    """The cells and rounds of *sweep*."""
    return plan_of(SweepInput.from_json(sweep))


def comparison(sweep: Mapping[str, Any], document: Mapping[str, Any]) -> Comparison:
    """Compare the two places; *document* has the samples by memory size and place."""
    samples: dict[str, list[Sample]] = {
        place: [sample for places in document.values() for sample in _samples(places[place])]
        for place in Place
    }
    return Comparison(planned({**sweep, "memory_mb": [*map(int, document)]}), samples)


@click.command()
@click.option(
    "--memory", "memory_mb", type=int, multiple=True, metavar="MB",
    help="Only this memory size; may be repeated. The others keep their numbers.",
)  # fmt: skip
@options.runs(3)
@click.option("--resume", is_flag=True, help="Continue a measurement that was interrupted.")
@options.as_json
@options.write_docs(f"bench/measured/{MEASURED.name}", DOCUMENT.name)
def emulator(
    memory_mb: tuple[int, ...], runs: int, *, resume: bool, as_json: bool, write_docs: bool
) -> None:
    """Compare the local emulator's speeds with those of the sandbox.

    Runs events/sweep-streams.json, up to 1,769 MB of memory, on the emulator that
    `bucketsum local up` has started, and the same rounds in the sandbox. Exits with 1 if a speed or
    the recommendation differs too much, and with 2 if the sandbox cannot be created.
    """
    unwind_on_signals()
    sweep = fields() | {"runs": runs}
    file = MEASURED if write_docs else FOLDER / MEASURED.name
    with refusals_are_status_2():
        if lacking := missing():
            raise refusal(lacking)
        for mb in memory_mb or sweep["memory_mb"]:
            _measure(sweep | {"memory_mb": [mb]}, file, resume=resume)
    document = _read(file)
    compared = comparison(sweep, document)
    origins = (own["origin"] for places in document.values() for own in places.values())
    table = compared.table(f"Neither is AWS. {'; '.join(dict.fromkeys(origins))}.")
    show([table], as_json=as_json)
    if write_docs:
        write_tables(DOCUMENT, [table])
    for cell_id in (differing := compared.differing()):
        output.note(f"the speeds of {cell_id} differ too much")
    if differing or not compared.recommendations_agree:
        raise SystemExit(1)


def _measure(sweep: dict[str, Any], file: Path, *, resume: bool) -> None:
    """Measure the one memory size of *sweep* in both places; write *file* after each place."""
    [memory_mb] = sweep["memory_mb"]
    places: dict[str, Any] = _read(file).get(str(memory_mb), {}) if resume else {}
    for place in (place for place in Place if place not in places):
        output.note(f"{memory_mb} MB of memory, {place}")
        before = origin()
        if place is Place.EMULATOR:
            samples = on_emulator(sweep)
        else:
            samples = [*in_sandbox(sweep, planned(sweep), _samples(places[Place.EMULATOR]))]
        places[place] = {"origin": before, "samples": [*map(item_values, samples)]}
        write_json(file, _read(file) | {str(memory_mb): places})


def _samples(of_place: Mapping[str, Any]) -> list[Sample]:
    return [*map(sample_of, of_place["samples"])]


def _read(file: Path) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(file.read_text("utf-8")) if file.exists() else {}
    return dict(sorted(document.items(), key=lambda item: int(item[0])))
