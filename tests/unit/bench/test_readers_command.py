"""``python -m bench readers`` without a sandbox."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bench.__main__ import bench
from bench.box.requirements import Missing
from bench.readers import command
from click.testing import CliRunner

if TYPE_CHECKING:
    import pytest


def test_missing_requirements_are_listed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Exit status 2, a line for each missing thing, and nothing is installed or measured."""
    lacking = [Missing("nginx", "serves the objects over TLS", "apt-get install nginx-light")]
    monkeypatch.setattr(command, "missing", lambda: lacking)
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


def test_a_quick_look_is_not_written_into_the_documents() -> None:
    """Exit status 2, before anything is measured."""
    result = CliRunner().invoke(bench, ["readers", "--quick", "--write-docs"])
    assert result.exit_code == 2
    assert "--write-docs" in result.output
