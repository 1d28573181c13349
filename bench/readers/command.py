"""Readers compared in every configuration: ``python -m bench readers``."""

from __future__ import annotations

import json
import signal
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NoReturn

import click

from bench.box.box import Box
from bench.box.calibration import calibrate
from bench.box.objects import make_object
from bench.box.profiles import PROFILES, QUICK_OBJECT_BYTES
from bench.box.requirements import CannotMakeBoxError, missing, refusal
from bench.box.server import FOLDER, PROJECT, start_server
from bench.readers.registry import ENTRIES, chosen
from bench.readers.report import Measured, Occasion, as_json, markdown, warnings
from bench.readers.rivals import install
from bench.readers.runner import Runner
from bench.readers.samples import Outcome
from bench.tables.document import write, written_between
from bucketsum_cli import output

if TYPE_CHECKING:
    from bench.box.profiles import Profile
    from bench.readers.registry import Entry
    from bench.readers.rivals import Rivals
    from bench.readers.samples import Sample

DOCUMENT: Final = PROJECT / "bench" / "measured" / "readers.md"


@click.command()
@click.option(
    "--profile",
    "names",
    multiple=True,
    type=click.Choice([profile.name for profile in PROFILES]),
    help="Only this configuration; may be repeated.",
)
@click.option(
    "--only", multiple=True, help="Only readers whose name contains this, and the baseline."
)
@click.option("--runs", default=3, show_default=True, type=click.IntRange(1), help="Rounds.")
@click.option("--quick", is_flag=True, help="One round with an object of 20 MB, as a check.")
@click.option(
    "--list", "listing", is_flag=True, help="List readers, configurations, missing tools."
)
@click.option(
    "--json",
    "json_file",
    type=click.Path(dir_okay=False, path_type=Path),
    help="File for the results. [default: .bucketsum/bench/readers.json]",
)
@click.option(
    "--write-docs", is_flag=True, help="Write the tables to bench/measured/readers.md too."
)
def readers(  # noqa: PLR0913 - one parameter per option
    names: tuple[str, ...],
    only: tuple[str, ...],
    runs: int,
    *,
    quick: bool,
    listing: bool,
    json_file: Path | None,
    write_docs: bool,
) -> None:
    """Compare S3 readers in sandboxes with Lambda-like limits.

    Readers take turns; every digest is checked. Prints Markdown. Exits with 1 if a digest was
    wrong, and with 2 if the sandbox cannot be created.
    """
    profiles = [profile for profile in PROFILES if not names or profile.name in names]
    if quick:
        runs, profiles = 1, [profile.with_object(QUICK_OBJECT_BYTES) for profile in profiles]
    if quick and write_docs:
        raise click.UsageError("--quick reads too little for --write-docs; leave one of them out")
    if listing:
        _list()
        return
    signal.signal(signal.SIGTERM, _leave)
    signal.signal(signal.SIGHUP, _leave)
    occasion = Occasion.now()
    try:
        measured, rivals = _measure(profiles, chosen(only), runs)
    except (CannotMakeBoxError, ValueError) as error:
        for line in str(error).splitlines():
            output.note(line)
        raise SystemExit(2) from None
    text = markdown(measured, rivals, occasion)
    click.echo(text)
    _save(as_json(measured, rivals, occasion), json_file or FOLDER / "readers.json")
    if write_docs:
        write(DOCUMENT, written_between(DOCUMENT.read_text("utf-8"), "readers", text))
    samples = (sample for configuration in measured for sample in configuration.samples)
    if any(sample.outcome is Outcome.WRONG for sample in samples):
        raise SystemExit(1)


def _save(document: dict[str, Any], file: Path) -> None:
    file.write_text(json.dumps(document, indent=2))
    output.note(f"the results with every sample: {file}")


def _leave(number: int, _: object) -> NoReturn:
    """Unwind, so that the sandbox is removed."""
    raise SystemExit(128 + number)


def _list() -> None:
    for entry in ENTRIES:
        output.say(f"reader   {entry.name} (needs {', '.join(entry.needs)})")
    for profile in PROFILES:
        output.say(f"profile  {profile.name}: {profile.title}")
    for requirement in missing():
        output.say(f"missing  {requirement}")


def _measure(
    profiles: list[Profile], entries: tuple[Entry, ...], runs: int
) -> tuple[list[Measured], Rivals]:
    if lacking := missing():
        raise refusal(lacking)
    FOLDER.mkdir(parents=True, exist_ok=True)
    output.note("installing the readers (about a minute the first time)")
    rivals = install(FOLDER)
    for absent in rivals.missing.values():
        output.note(f"missing: {absent}")
    available = [entry for entry in entries if not set(entry.needs) & set(rivals.missing)]
    return [_measure_in(profile, available, runs, rivals) for profile in profiles], rivals


def _measure_in(profile: Profile, entries: list[Entry], runs: int, rivals: Rivals) -> Measured:
    output.note(f"{profile.name}: {profile.title}")
    objects = FOLDER / "objects"
    known = make_object(objects, profile.object_bytes)
    with tempfile.TemporaryDirectory(prefix="box-", dir=FOLDER) as folder, Box(profile) as box:
        server = start_server(box, Path(folder), objects)
        calibrations = calibrate(box, server, objects)
        output.note(f"  the sandbox allows: {'; '.join(map(str, calibrations))}")
        for warning in warnings(calibrations):
            output.note(f"  WARNING: {warning}")
        if profile.burst_bytes:
            output.note("  before each reading, the run waits until the burst allowance is full")
        runner = Runner(box, server, known, rivals, Path(folder))
        samples = []
        for sample in runner.rounds(entries, runs):
            samples.append(sample)
            done = f"{len(samples)}/{len(entries) * runs}"
            output.note(f"  {profile.name} {done:>6} {_line(sample)}")
    return Measured(profile, calibrations, samples)


def _line(sample: Sample) -> str:
    if not sample.good:
        return f"{sample.reader}: {sample.outcome} {sample.detail}"
    cpu = sample.cpu_seconds / sample.size_bytes * 1e9
    return (
        f"{sample.reader}: {sample.mb_per_s:.1f} MB/s, {cpu:.2f} CPU s/GB, "
        f"{sample.peak_bytes / 1e6:.0f} MB"
    )
