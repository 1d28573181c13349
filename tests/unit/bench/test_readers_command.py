"""``python -m bench readers`` without a sandbox."""

from __future__ import annotations

import pytest
from bench.__main__ import bench
from bench.box.profiles import PROFILES
from bench.box.requirements import Missing
from bench.readers import command
from bench.readers.registry import ENTRIES
from click.testing import CliRunner


@pytest.fixture
def cannot(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine without nginx."""
    lacking = [Missing("nginx", "serves the objects over TLS", "apt-get install nginx-light")]
    monkeypatch.setattr(command, "missing", lambda: lacking)


@pytest.mark.usefixtures("cannot")
def test_missing_requirements_are_listed() -> None:
    """Exit status 2, a line for each missing thing, and nothing is installed or measured."""
    result = CliRunner().invoke(bench, ["readers"])
    assert result.exit_code == 2
    assert result.output.splitlines()[1:] == [
        "  nginx: serves the objects over TLS. apt-get install nginx-light"
    ]


def test_an_unknown_reader_is_refused() -> None:
    """Exit status 2, and the known names."""
    result = CliRunner().invoke(bench, ["readers", "--only", "no such reader"])
    assert result.exit_code == 2
    assert "libcurl" in result.output


@pytest.mark.usefixtures("cannot")
def test_readers_and_configurations_are_listed_anywhere() -> None:
    """Even if nothing can be measured here; missing requirements are listed too."""
    result = CliRunner().invoke(bench, ["readers", "--list"])
    assert result.exit_code == 0
    for name in (*(entry.name for entry in ENTRIES), *(profile.title for profile in PROFILES)):
        assert name in result.stdout
    assert "missing  nginx" in result.stdout


def test_the_kinds_of_benchmarks_are_named() -> None:
    """The help lists every benchmark."""
    text = CliRunner().invoke(bench, ["--help"]).stdout
    for name in ("targets", "readers", "members"):
        assert f"  {name} " in text


def test_a_quick_look_is_not_written_into_the_documents() -> None:
    """Exit status 2, before anything is measured."""
    result = CliRunner().invoke(bench, ["readers", "--quick", "--write-docs"])
    assert result.exit_code == 2
    assert "--write-docs" in result.output
