"""The Python of the local workers, the newest that Lambda has, and its packages."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Final

from bucketsum_cli.emulator.emulator_state import LocalProject
from bucketsum_cli.terminal.errors import CannotDoError

LAMBDA_MINORS: Final = (14, 13, 12)
"""Minor versions of Python 3 that template.yaml's PythonRuntime allows, the newest first."""


@dataclass(frozen=True, slots=True)
class Interpreter:
    """A Python of this machine.

    Attributes:
        minor: Its minor version: 13 for Python 3.13.
    """

    path: Path
    minor: int

    @property
    def runtime(self) -> str:
        """Its name as a Lambda runtime."""
        return f"python3.{self.minor}"


def newest_interpreter() -> Interpreter:
    """Find the newest Python of a version that Lambda has.

    Raises:
        CannotDoError: This machine has none.
    """
    for minor in LAMBDA_MINORS:
        for path in _candidates(minor):
            if _answers(path, minor):
                return Interpreter(path, minor)
    versions = ", ".join(f"3.{minor}" for minor in LAMBDA_MINORS)
    raise CannotDoError(f"the functions need Python {versions}: install one of them")


def _candidates(minor: int) -> Iterator[Path]:
    name = f"python3.{minor}"
    if program := shutil.which(name):
        yield Path(program)
    # pyenv's versions need not be on the PATH, and its shims work only for the selected versions.
    pyenv = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv")
    yield from sorted(pyenv.glob(f"versions/3.{minor}.*/bin/{name}"), reverse=True)


def _answers(path: Path, minor: int) -> bool:
    """Whether *path* is CPython of this minor version, and can make virtual environments."""
    program = "import sys, venv, ssl; print(sys.version_info[1], sys.implementation.name)"
    try:
        answer = subprocess.run(  # noqa: S603 - a Python of this machine
            [path, "-I", "-c", program], capture_output=True, text=True, timeout=20, check=True
        )
    except (OSError, subprocess.SubprocessError):
        return False
    return answer.stdout.split() == [str(minor), "cpython"]


def make_runtime(project: LocalProject, interpreter: Interpreter) -> Path:
    """Make the workers' environment once: the standard library and boto3, as on Lambda.

    boto3 and its dependencies have the locked versions. Returns the interpreter's path.
    """
    version = metadata.version("boto3")
    folder = project.home / "runtime" / f"{interpreter.runtime}-boto3-{version}"
    program = folder / "bin" / "python"
    ready = folder / ".ready"
    if not ready.exists():
        shutil.rmtree(folder, ignore_errors=True)
        uv = [sys.executable, "-m", "uv", "--quiet"]
        _run([*uv, "venv", "--python", str(interpreter.path), str(folder)])
        pins = ["--constraint", str(project.folder / "requirements.lock")]
        wheels = Path(sys.prefix, "wheels")  # `make setup` keeps what pip fetched, as pip is set up
        if wheels.is_dir():
            pins += ["--no-index", "--find-links", str(wheels)]
        _run([*uv, "pip", "install", "--python", str(program), *pins, f"boto3=={version}"])
        ready.touch()
    return program


def _run(command: list[str]) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603 - uv
    if done.returncode:
        raise CannotDoError(f"{shlex.join(command)} failed:\n{done.stderr.strip()}")
