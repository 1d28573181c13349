"""Readers compared in every configuration: ``python -m bench readers``."""

from dataclasses import replace
from typing import Final

import click

from bench.readers.environments import Environments, install
from bench.readers.registry import ComparedReader, chosen
from bench.readers.report import MeasuredReader, as_json, markdown, overview, warnings
from bench.readers.runner import Runner
from bench.readers.samples import ReaderOutcome, ReaderSample
from bench.sandbox.calibration import calibrate
from bench.sandbox.objects import make_object
from bench.sandbox.profiles import PROFILES, QUICK_OBJECT_BYTES, Profile
from bench.sandbox.requirements import sandboxes
from bench.sandbox.server import FOLDER, PROJECT, serving
from bench.tables import options
from bench.tables.document import write, write_json, write_tables, written_between
from bench.tables.machine import circumstances
from bucketsum_cli.terminal import output

MEASURED: Final = PROJECT / "bench" / "measured"


@click.command()
@click.option(
    "--profile",
    "names",
    multiple=True,
    type=click.Choice([profile.name for profile in PROFILES]),
    metavar="NAME",
    help=f"Sandbox to measure in: {', '.join(profile.name for profile in PROFILES)} (memory in MB; "
    "burst: with a network burst); may be repeated. By default, all.",
)
@click.option(
    "--only",
    multiple=True,
    metavar="TEXT",
    help="Only the baseline and readers whose name contains TEXT; may be repeated.",
)
@options.runs(3)
@click.option(
    "--quick",
    is_flag=True,
    help="One run with an object of 20 MB, to check that the benchmark works.",
)
@options.write_docs("bench/measured", "docs/measurements.md")
def readers(
    names: tuple[str, ...], only: tuple[str, ...], runs: int, *, quick: bool, write_docs: bool
) -> None:
    """Compare S3 readers in sandboxes with Lambda-like limits.

    Readers take turns, and every digest is checked. Prints Markdown, and writes all samples to
    .bucketsum/bench/readers.json. Exits with 1 if a digest was wrong, and with 2 if the sandbox
    cannot be created.
    """
    profiles = [profile for profile in PROFILES if not names or profile.name in names]
    if quick:
        runs = 1
        profiles = [replace(profile, object_bytes=QUICK_OBJECT_BYTES) for profile in profiles]
    if write_docs and (quick or names or only):
        raise click.UsageError(
            "--write-docs needs every configuration and reader; leave out --quick, --profile and "
            "--only"
        )
    origin = circumstances()  # before anything is measured
    with sandboxes():
        measured, environments = _measure(profiles, chosen(only), runs)
    text = markdown(measured, environments, origin)
    click.echo(text)
    write_json(FOLDER / "readers.json", as_json(measured, environments, origin))
    if write_docs:
        write_json(MEASURED / "readers.json", as_json(measured, environments, origin))
        document = MEASURED / "readers.md"
        write(document, written_between(document.read_text("utf-8"), "readers", text))
        write_tables(PROJECT / "docs" / "measurements.md", [overview(measured)])
    samples = (sample for configuration in measured for sample in configuration.samples)
    if any(sample.outcome is ReaderOutcome.WRONG for sample in samples):
        raise SystemExit(1)


def _measure(
    profiles: list[Profile], entries: tuple[ComparedReader, ...], runs: int
) -> tuple[list[MeasuredReader], Environments]:
    FOLDER.mkdir(parents=True, exist_ok=True)
    output.note("installing the readers (about a minute the first time)")
    environments = install(FOLDER)
    for absent in environments.missing.values():
        output.note(f"missing: {absent}")
    available = [entry for entry in entries if not set(entry.needs) & set(environments.missing)]
    return [
        _measure_in(profile, available, runs, environments) for profile in profiles
    ], environments


def _measure_in(
    profile: Profile, entries: list[ComparedReader], runs: int, environments: Environments
) -> MeasuredReader:
    output.note(f"{profile.name}: {profile.title}")
    objects = FOLDER / "objects"
    known = make_object(objects, profile.object_bytes)
    with serving(profile, objects) as (sandbox, server, folder):
        calibrations = calibrate(sandbox, server, objects)
        output.note(f"  the sandbox allows: {'; '.join(map(str, calibrations))}")
        for warning in warnings(calibrations):
            output.note(f"  WARNING: {warning}")
        if profile.burst_bytes:
            output.note("  before each reading, the run waits until the burst allowance is full")
        runner = Runner(sandbox, server, known, environments, folder)
        samples = []
        for sample in runner.rounds(entries, runs):
            samples.append(sample)
            done = f"{len(samples)}/{len(entries) * runs}"
            output.note(f"  {profile.name} {done:>6} {_line(sample)}")
    return MeasuredReader(profile, calibrations, samples)


def _line(sample: ReaderSample) -> str:
    if not sample.good:
        return f"{sample.reader}: {sample.outcome} {sample.detail}"
    return f"{sample.reader}: {sample.mb_per_s:.1f} MB/s, {sample.peak_bytes / 1e6:.0f} MB"
