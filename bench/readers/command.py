"""``python -m bench readers``: every reader in every shape, side by side."""

from __future__ import annotations

import json
import signal
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Final, NoReturn

import click

from bench.box.box import Box
from bench.box.calibration import calibrate
from bench.box.objects import make_object
from bench.box.profiles import PROFILES, QUICK_OBJECT_BYTES
from bench.box.requirements import CannotMakeBoxError, missing, refusal
from bench.box.server import PROJECT, start_server
from bench.readers.registry import ENTRIES, chosen
from bench.readers.report import Measured, Occasion, as_json, markdown, warnings, written_between
from bench.readers.rivals import gather
from bench.readers.runner import Runner
from bench.readers.samples import GOOD, WRONG
from bucketsum_cli import output

if TYPE_CHECKING:
    from bench.box.profiles import Profile
    from bench.readers.registry import Entry
    from bench.readers.rivals import Peers
    from bench.readers.samples import Sample

FOLDER: Final = PROJECT / ".bucketsum" / "bench"
DOCUMENT: Final = PROJECT / "docs" / "benchmarking.md"


@click.command()
@click.option(
    "--profile",
    "profiles",
    multiple=True,
    type=click.Choice([one.name for one in PROFILES]),
    help="Only this shape; can be given more than once.",
)
@click.option(
    "--only", multiple=True, help="Only readers with this in their name, and the article's."
)
@click.option("--runs", default=3, show_default=True, type=click.IntRange(1), help="Rounds.")
@click.option("--quick", is_flag=True, help="One round with an object of 20 MB: does it work?")
@click.option(
    "--list", "listing", is_flag=True, help="Show readers and shapes, and what is missing."
)
@click.option(
    "--json", "json_file", type=click.Path(dir_okay=False, path_type=Path), help="Results."
)
@click.option("--write-docs", is_flag=True, help="Write the table into docs/benchmarking.md.")
def readers(  # noqa: PLR0913 - one parameter per option
    profiles: tuple[str, ...],
    only: tuple[str, ...],
    runs: int,
    *,
    quick: bool,
    listing: bool,
    json_file: Path | None,
    write_docs: bool,
) -> None:
    """Measure the ways of reading an object in boxes of Lambda's shape.

    Readers take turns; every digest is compared. The answer is Markdown. Exits with 1 where a
    digest was wrong, and with 2 where the box cannot be made.
    """
    shapes = [one for one in PROFILES if not profiles or one.name in profiles]
    if quick:
        runs, shapes = 1, [one.with_object(QUICK_OBJECT_BYTES) for one in shapes]
    if quick and write_docs:
        raise click.UsageError("--quick reads too little for --write-docs; leave one of them out")
    if listing:
        _list()
        return
    signal.signal(signal.SIGTERM, _leave)
    signal.signal(signal.SIGHUP, _leave)
    occasion = Occasion.now()
    try:
        entries = chosen(only)
        measured, peers = _measure(shapes, entries, runs)
    except (CannotMakeBoxError, ValueError) as error:
        for line in str(error).splitlines():
            output.note(line)
        raise SystemExit(2) from None
    _tell(measured, peers, occasion, json_file, write_docs=write_docs)
    if any(sample.outcome == WRONG for one in measured for sample in one.samples):
        raise SystemExit(1)


def _leave(number: int, _: object) -> NoReturn:
    """Unwind, so that the box is removed."""
    raise SystemExit(128 + number)


def _list() -> None:
    for entry in ENTRIES:
        output.say(f"reader   {entry.name} (needs {', '.join(entry.needs)})")
    for profile in PROFILES:
        output.say(f"profile  {profile.name}: {profile.title}")
    for one in missing():
        output.say(f"missing  {one}")


def _measure(
    shapes: list[Profile], entries: tuple[Entry, ...], runs: int
) -> tuple[list[Measured], Peers]:
    lacking = missing()
    if lacking:
        raise refusal(lacking)
    FOLDER.mkdir(parents=True, exist_ok=True)
    output.note("Gathering the readers' environments (the first time takes a minute)")
    peers = gather(FOLDER)
    for absent in peers.missing.values():
        output.note(f"missing: {absent}")
    there = [one for one in entries if not set(one.needs) & set(peers.missing)]
    return [_measure_in(shape, there, runs, peers) for shape in shapes], peers


def _measure_in(shape: Profile, entries: list[Entry], runs: int, peers: Peers) -> Measured:
    output.note(f"{shape.name}: {shape.title}")
    objects = FOLDER / "objects"
    known = make_object(objects, shape.object_bytes)
    with tempfile.TemporaryDirectory(prefix="box-", dir=FOLDER) as folder, Box(shape) as box:
        server = start_server(box, Path(folder), objects)
        calibrations = calibrate(box, server, objects)
        output.note(f"  the box allows: {'; '.join(map(str, calibrations))}")
        for warning in warnings(calibrations):
            output.note(f"  WARNING: {warning}")
        if shape.burst_bytes:
            output.note("  before each reading, waits until the burst is whole again")
        runner = Runner(box, server, known, peers, Path(folder))
        samples = []
        for sample in runner.rounds(entries, runs):
            samples.append(sample)
            done = f"{len(samples)}/{len(entries) * runs}"
            output.note(f"  {shape.name} {done:>6} {_line(sample)}")
    return Measured(shape, calibrations, samples)


def _line(sample: Sample) -> str:
    if sample.outcome != GOOD:
        return f"{sample.reader}: {sample.outcome} {sample.detail}"
    cpu = sample.cpu_seconds / sample.size_bytes * 1e9
    return (
        f"{sample.reader}: {sample.mb_per_s:.1f} MB/s, {cpu:.2f} CPU s/GB, "
        f"{sample.peak_bytes / 1e6:.0f} MB"
    )


def _tell(
    measured: list[Measured],
    peers: Peers,
    occasion: Occasion,
    json_file: Path | None,
    *,
    write_docs: bool,
) -> None:
    text = markdown(measured, peers, occasion)
    click.echo(text)
    target = json_file or FOLDER / "readers.json"
    target.write_text(json.dumps(as_json(measured, peers, occasion), indent=2))
    output.note(f"the same as JSON, with every sample: {target}")
    if write_docs:
        DOCUMENT.write_text(written_between(DOCUMENT.read_text(), text))
        output.note(f"written into {DOCUMENT}")
