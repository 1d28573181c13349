"""`bucketsum local` where nothing runs, and where something is missing."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from bucketsum_cli.errors import CannotDoError
from bucketsum_cli.local import commands, demo, launcher, state
from bucketsum_cli.local.interpreter import Interpreter

if TYPE_CHECKING:
    from tests.cli.conftest import Run


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder is a project in which nothing runs."""
    (tmp_path / "layers" / "bucketsum").mkdir(parents=True)
    (tmp_path / "template.yaml").touch()
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.usefixtures("project")
@pytest.mark.parametrize("command", [("status",), ("logs",), ("logs", "--emulator")])
def test_what_needs_a_running_one_says_how_to_start_it(run: Run, command: tuple[str, ...]) -> None:
    """Where nothing runs the way to start it is in the error, and the status is 2."""
    ended = run("local", *command)

    assert ended.status == 2
    assert "bucketsum local up" in ended.err


@pytest.mark.usefixtures("project")
def test_down_where_nothing_runs_is_no_error(run: Run) -> None:
    """The wish is fulfilled already."""
    assert run("local", "down").out.strip() == "it was not running"
    assert run("local", "down", "--json").document == {"stopped": False}


def test_outside_a_project_the_error_says_so(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The embedded AWS belongs to a clone of bucketsum."""
    monkeypatch.chdir(tmp_path)

    ended = run("local", "up")

    assert ended.status == 2
    assert "not inside a bucketsum project" in ended.err


@pytest.mark.usefixtures("project")
def test_a_parameter_needs_a_value(run: Run) -> None:
    """`--parameter` says what it was given and what it wants."""
    ended = run("local", "up", "--parameter", "MemorySize")

    assert ended.status == 2
    assert "'MemorySize' is not NAME=VALUE" in ended.err


@pytest.mark.usefixtures("project")
def test_missing_parts_are_named(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """Installed without `bucketsum[local]`, the command says what is missing and how to get it."""
    monkeypatch.setattr("importlib.util.find_spec", lambda name: name == "uv" or None)

    ended = run("local", "up")

    assert ended.status == 2
    assert "needs ministack, samcli, trustme" in ended.err
    assert "bucketsum[local]" in ended.err


def test_one_of_another_version_must_be_stopped_first(project: Path) -> None:
    """A state that this version does not understand is said to be that."""
    home = project / state.FOLDER
    home.mkdir()
    (home / "local.json").write_text(json.dumps({"pid": os.getpid(), "colour": "blue"}))

    with pytest.raises(CannotDoError, match="another version"):
        state.running(project)


@pytest.mark.parametrize("text", ["", "{}", "half a docum"])
def test_a_broken_state_is_nothing_running(project: Path, text: str) -> None:
    """A file that was cut off while it was written keeps nobody from starting anew."""
    home = project / state.FOLDER
    home.mkdir()
    (home / "local.json").write_text(text)

    with pytest.raises(CannotDoError, match="not running"):
        state.running(project)


def test_without_lambda_s_shape_the_status_says_so(
    project: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Numbers of unlimited workers carry a label."""
    aws = state.LocalAws(os.getpid(), "https://127.0.0.1:1", "us-east-1", "bucketsum", "ca.pem")
    state.save(project, aws)
    (project / state.FOLDER / "worker.json").write_text('{"cgroup_roots": null}')
    monkeypatch.setattr(commands, "find_local_stack", lambda _project: _stack())

    commands.local.main(["status"], standalone_mode=False)

    told = capsys.readouterr()
    assert "lambda_shape  False" in told.out
    assert "memory size does not change speed" in told.err


def _stack() -> object:
    class _Stack:
        bucket, table, function = "b", "t", "f"

    return _Stack()


def test_the_system_s_own_program_is_asked(tmp_path: Path) -> None:
    """The demonstration's oracle is `sha1sum` itself, whatever the file's name."""
    file = tmp_path / "a \\ name\nof two lines"
    file.write_bytes(b"abc")

    assert demo.sha1sum(file) == "a9993e364706816aba3e25717850c26c9cd0d89d"


def test_without_such_a_program_there_is_nothing_to_compare_with(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No oracle is an error, not a pass."""
    monkeypatch.setenv("PATH", str(tmp_path))

    with pytest.raises(CannotDoError, match="sha1sum"):
        demo.sha1sum(Path(__file__))


def test_a_program_that_fails_is_no_oracle(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What it says then is not taken for a digest."""
    program = tmp_path / "sha1sum"
    program.write_text("#!/bin/sh\necho broken >&2\nexit 1\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))

    with pytest.raises(CannotDoError, match="broken"):
        demo.sha1sum(Path(__file__))


def test_a_tool_that_fails_is_quoted(project: Path) -> None:
    """Where the workers' runtime cannot be made, what uv said is in the error."""
    (project / "requirements.lock").touch()
    absent = Interpreter(project / "no-python", 13)

    with pytest.raises(CannotDoError, match="uv"):
        launcher.make_runtime(project, absent)
