"""scaling: the command, its refusals, and that docs/scaling.md says what it computes."""

from __future__ import annotations

import json
import shlex
from typing import Any

import pytest
from bench.scaling.command import DOCUMENT, main
from bench.scaling.tables import DEFAULT, duration_text, napkin, tables
from click.testing import CliRunner
from tests.support.sam_template import load_template

COMMANDS = [
    line.split()[4:]
    for line in DOCUMENT.read_text("utf-8").splitlines()
    if line.startswith("python -m bench scaling ")
]


def asked(*arguments: str) -> dict[str, Any]:
    """The JSON that the command answers with."""
    done = CliRunner().invoke(main, [*arguments, "--json"], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    document: dict[str, Any] = json.loads(done.output)
    return document


def test_the_napkin_is_the_articles() -> None:
    """Its first row is 30, 390, 750 and 1,170 files, at 5, 65 and 125 at a time."""
    assert napkin().rows[0][1:] == ("5 → 65 → 125", 30, 390, 750, 1170)


def test_the_document_has_todays_tables() -> None:
    """Every table of docs/scaling.md is what the command writes now."""
    text = DOCUMENT.read_text("utf-8")
    for table in tables():
        assert f"<!-- bench {table.name} -->\n{table.markdown()}\n<!--" in text, table.name


def test_the_default_is_the_templates() -> None:
    """What the tables call the template's default is its default."""
    parameter = load_template()["Parameters"]["MaximumConcurrency"]
    assert parameter["Default"] == DEFAULT.maximum_concurrency


@pytest.mark.parametrize("arguments", COMMANDS, ids=shlex.join)
def test_the_documented_calls_work(arguments: list[str]) -> None:
    """Every call that docs/scaling.md shows is taken and ends well."""
    done = CliRunner().invoke(main, arguments, catch_exceptions=False)
    assert done.exit_code == 0, done.output


def test_the_numbers_given_are_those_used() -> None:
    """20 s each, two at a time, 12 of them: two minutes; the table and the JSON agree."""
    arguments = ["--objects", "12", "--seconds-per-object", "20", "--max-concurrency", "2"]
    document = asked(*arguments)
    assert document["seconds"] == 120
    assert [minute["finished"] for minute in document["minutes"]] == [6, 6]
    assert "all 12 after 2.0 min" in CliRunner().invoke(main, arguments).output


def test_size_speed_and_overhead_make_the_duration() -> None:
    """1 GB at 100 MB/s and 500 ms beside are 10.5 s."""
    document = asked("--objects", "1", "--size", "1GB", "--mb-per-s", "100", "--overhead-ms", "500")
    assert document["seconds"] == 10.5


def test_scaling_evenly_is_never_slower() -> None:
    """The two readings of "per minute" bound what happens."""
    steps, evenly = (asked("--objects", "3000", "--ramp", ramp) for ramp in ("steps", "evenly"))
    assert evenly["seconds"] < steps["seconds"]


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--max-concurrency", "1"], "MaximumConcurrency is 1, not in 2..1000"),
        (["--pollers", "5", "--max-concurrency", "5"], "exclude each other"),
        (["--pollers", "many"], "write it as 20 or 20-100"),
        (["--batch-size", "100"], "a batch of 100 takes 1,338 s"),
        (["--objects", "100000000"], "more than the 20,000,000"),
        (["--size", "big"], "write it as 262144, 256KiB or 20MB"),
    ],
)
def test_what_cannot_be_is_refused(arguments: list[str], told: str) -> None:
    """The text has what was given and what is allowed; the exit status is 2."""
    done = CliRunner().invoke(main, arguments)
    assert done.exit_code == 2
    assert told in " ".join(done.output.split())


@pytest.mark.parametrize(
    ("seconds", "text"), [(9.6, "10 s"), (99, "99 s"), (150, "2.5 min"), (7200, "2.0 h")]
)
def test_durations_for_people(seconds: float, text: str) -> None:
    """Seconds, minutes or hours, as they are read most easily."""
    assert duration_text(seconds) == text
