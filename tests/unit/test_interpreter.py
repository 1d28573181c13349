"""The newest Python that Lambda supports is found anywhere on the machine."""

from pathlib import Path

import pytest
from tests.support.sam_template import load_template

from bucketsum_cli.emulator.interpreter import LAMBDA_MINORS, newest_interpreter
from bucketsum_cli.terminal.errors import CannotDoError


def fake_python(path: Path, minor: int, *, works: bool = True) -> Path:
    """A program that answers as a Python of that version would."""
    path.parent.mkdir(parents=True, exist_ok=True)
    answer = f"echo {minor} cpython" if works else "echo 'pyenv: not found' >&2; exit 127"
    path.write_text(f"#!/bin/sh\n{answer}\n")
    path.chmod(0o755)
    return path


@pytest.fixture
def nowhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine without a Python on the PATH or in pyenv."""
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    monkeypatch.setenv("PYENV_ROOT", str(tmp_path / "pyenv"))
    return tmp_path


def test_the_newest_on_the_path_is_taken(nowhere: Path) -> None:
    """Of several Pythons the newest of a version that Lambda has wins."""
    fake_python(nowhere / "bin" / "python3.12", 12)
    newest = fake_python(nowhere / "bin" / "python3.13", 13)
    fake_python(nowhere / "bin" / "python3.99", 99)

    interpreter = newest_interpreter()

    assert (interpreter.path, interpreter.runtime) == (newest, "python3.13")


def test_a_shim_that_does_not_answer_is_passed_over(nowhere: Path) -> None:
    """Pyenv's shims are on the PATH for versions that it does not serve: its folders do."""
    fake_python(nowhere / "bin" / "python3.14", 14, works=False)
    real = fake_python(nowhere / "pyenv" / "versions" / "3.14.1" / "bin" / "python3.14", 14)

    assert newest_interpreter().path == real


def test_a_program_of_another_version_is_passed_over(nowhere: Path) -> None:
    """A name proves nothing: the program itself is asked."""
    fake_python(nowhere / "bin" / "python3.14", 12)
    fake_python(nowhere / "bin" / "python3.12", 12)

    assert newest_interpreter().minor == 12


@pytest.mark.usefixtures("nowhere")
def test_a_machine_without_any_is_refused() -> None:
    """The error names the versions that Lambda has."""
    with pytest.raises(CannotDoError, match=r"need Python 3\.14, 3\.13, 3\.12: install one"):
        newest_interpreter()


def test_the_versions_are_those_of_the_template() -> None:
    """The versions searched for are those that PythonRuntime allows."""
    allowed = load_template()["Parameters"]["PythonRuntime"]["AllowedValues"]
    assert [f"python3.{minor}" for minor in LAMBDA_MINORS] == sorted(allowed, reverse=True)
