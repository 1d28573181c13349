"""readers: summaries of samples, table and JSON, and the command without a sandbox."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from bench.__main__ import bench
from bench.readers import command
from bench.readers.environments import Environments
from bench.readers.registry import AS_DEPLOYED, BASELINE, ENTRIES, LIMIT, OURS, chosen
from bench.readers.report import MeasuredReader, as_json, markdown, overview
from bench.readers.runner import rotated
from bench.readers.samples import ReaderOutcome, ReaderSample, summaries
from bench.sandbox import requirements
from bench.sandbox.calibration import Calibration
from bench.sandbox.profiles import Profile
from bench.sandbox.requirements import Missing
from bench.tables.table import Spread
from click.testing import CliRunner

ORIGIN = {"date": "2026-01-02", "load": 0.25, "machine": "EPYC, 2 cores"}
PROFILE = Profile("plain", 512, 800, 100_000_000)  # 100 MB/s: the object takes a second


def sample(reader: str, number: int, seconds: float, cpu_seconds: float = 0.1) -> ReaderSample:
    """A good sample."""
    return ReaderSample(
        reader, number, ReaderOutcome.GOOD, 100_000_000, seconds, cpu_seconds, 50_000_000
    )


SAMPLES = [
    *(sample(BASELINE, number, seconds, 0.2) for number, seconds in enumerate((2.0, 4.0, 2.0))),
    *(sample("other", number, seconds) for number, seconds in enumerate((1.0, 2.0, 1.25))),
    ReaderSample("doomed", 0, ReaderOutcome.OUT_OF_MEMORY, kills=1, detail="gone"),
]
MEASURED = MeasuredReader(PROFILE, [Calibration("1 connection", 99.0, 100.0)], SAMPLES)


MISSING = {"rclone": Missing("rclone", "it is not on the PATH", "apt-get install rclone")}
ENVIRONMENTS = Environments(Path("python"), {}, MISSING, {"boto3": "1.2.3"})


def test_ratios_are_of_the_same_round() -> None:
    """A slow moment of the machine slows both: 2, 2 and 1.6, never a quotient of medians."""
    _, other, _ = summaries(SAMPLES, PROFILE)
    assert other.ratio == Spread(2.0, 1.6, 2.0)
    assert other.cpu_ratio == Spread(0.5, 0.5, 0.5)
    assert other.cpu_s_per_gb == Spread(1.0, 1.0, 1.0)
    assert other.link_share == Spread(0.8, 0.5, 1.0)


def test_requests_are_a_number_that_was_counted() -> None:
    """Of two numbers in the middle the lower, never half a request."""
    counted = [replace(sample("other", 0, 1.0), gets=gets) for gets in (9, 6, 7, 6)]
    (other,) = summaries(counted, PROFILE)
    assert other.gets == 6


def test_what_failed_is_counted_and_never_averaged() -> None:
    """A reader that was killed has no speed, but its kills and outcomes are shown."""
    *_, doomed = summaries(SAMPLES, PROFILE)
    assert (doomed.mb_per_s, doomed.ratio, doomed.peak_mb) == (None, None, None)
    assert (doomed.kills, doomed.failures, doomed.samples) == (
        1,
        {ReaderOutcome.OUT_OF_MEMORY: 1},
        1,
    )


def test_a_round_whose_baseline_failed_has_no_ratio() -> None:
    """The other rounds still do."""
    broken = [ReaderSample(BASELINE, 0, ReaderOutcome.FAILED), *SAMPLES[1:]]
    _, other, _ = summaries(broken, PROFILE)
    assert other.ratio == Spread(1.8, 1.6, 2.0)
    assert other.mb_per_s == Spread(80.0, 50.0, 100.0)


def test_the_table_has_a_row_per_reader_and_names_the_machine() -> None:
    """Speeds with their spread, failures in words, versions, what is missing, and whose it is."""
    text = markdown([MEASURED], ENVIRONMENTS, ORIGIN)
    assert "| other | 80.0 (50.0-100.0) | 2.00 | 0.800 | 1.00 | 50 |" in text
    assert "| doomed (not counted: 1 × out of memory (1 killed)) |  |  |  |  |  |" in text
    assert "Missing: rclone: it is not on the PATH. apt-get install rclone." in text
    origin = "2026-01-02: EPYC, 2 cores; boto3 1.2.3. System load before the start: 0.2."
    assert f"Not AWS: a sandbox on one machine, {origin}" in text


def test_the_overview_compares_with_the_fastest_usable_other() -> None:
    """Neither the baseline, nor a variant of ours, nor the upper bound counts as another reader."""
    ours = [sample(name, number, 0.8) for name in OURS for number in range(3)]
    samples = [*SAMPLES, *ours, sample(LIMIT, 0, 0.5)]
    text = overview([replace(MEASURED, samples=samples)]).markdown()
    row = "512 MB, 800 Mbit/s, 100 MB | 50.0 | 80.0 (other) | 125.0 | 2.50 | 0.50"
    assert text.splitlines()[-1] == f"| {row} |"


def test_an_overview_of_failed_readers_is_empty() -> None:
    """It has no number that was not measured."""
    samples = [ReaderSample(name, 0, ReaderOutcome.FAILED) for name in (BASELINE, AS_DEPLOYED)]
    text = overview([replace(MEASURED, samples=samples)]).markdown()
    assert text.splitlines()[-1] == "| 512 MB, 800 Mbit/s, 100 MB |  |  |  |  |  |"


def test_the_json_has_every_sample() -> None:
    """With what was not good, so that everything in the table can be computed again."""
    document = json.loads(json.dumps(as_json([MEASURED], ENVIRONMENTS, ORIGIN)))
    assert document["machine"] == "EPYC, 2 cores"
    assert len(document["profiles"][0]["samples"]) == len(SAMPLES)
    assert document["profiles"][0]["summaries"][1]["ratio"]["median"] == 2.0
    assert document["missing"][0]["what"] == "rclone"


def test_a_choice_of_readers_always_has_the_baseline() -> None:
    """It is needed for ratios; no choice means all, and an unknown name is refused."""
    assert {entry.name for entry in chosen(("libcurl",))} > {BASELINE}
    assert chosen(()) == ENTRIES
    with pytest.raises(ValueError, match=r"'libcurll'.*baseline"):
        chosen(("libcurll",))


def test_every_round_begins_with_another_reader() -> None:
    """All readers are in each round."""
    rounds = [rotated(ENTRIES, number) for number in range(len(ENTRIES))]
    assert tuple(order[0] for order in rounds) == ENTRIES
    assert all({entry.name for entry in order} == {e.name for e in ENTRIES} for order in rounds)


def test_missing_requirements_are_listed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Exit status 2, a line for each missing thing, and nothing is installed or measured."""
    lacking = [Missing("nginx", "serves the objects over TLS", "apt-get install nginx-light")]
    monkeypatch.setattr(requirements, "missing", lambda: lacking)
    result = CliRunner().invoke(bench, ["readers"])
    assert result.exit_code == 2
    assert result.output.splitlines()[1:] == [
        "  nginx: serves the objects over TLS. apt-get install nginx-light"
    ]


def test_a_wrong_digest_fails_the_run(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Exit status 1, after the results have been written."""
    wrong = MeasuredReader(
        PROFILE, MEASURED.calibrations, [*SAMPLES, ReaderSample("liar", 0, ReaderOutcome.WRONG)]
    )
    monkeypatch.setattr(requirements, "missing", list)
    monkeypatch.setattr(command, "FOLDER", tmp_path)
    for measured, status in ((MEASURED, 0), (wrong, 1)):
        answer = [measured], ENVIRONMENTS
        monkeypatch.setattr(command, "_measure", lambda *_, answer=answer: answer)
        assert CliRunner().invoke(bench, ["readers"]).exit_code == status
        assert len(json.loads((tmp_path / "readers.json").read_text())["profiles"]) == 1


@pytest.mark.parametrize("part", ["--quick", "--profile=512", "--only=libcurl"])
def test_a_part_is_not_written_into_the_documents(part: str) -> None:
    """Exit status 2, before anything is measured."""
    result = CliRunner().invoke(bench, ["readers", part, "--write-docs"])
    assert result.exit_code == 2
    assert "--write-docs needs every" in result.output
