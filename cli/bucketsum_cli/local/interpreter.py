"""The Python of the local workers: the newest that Lambda has, else the running one."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator

LAMBDA_MINORS: Final = (14, 13, 12, 11)
"""Minor versions of Python 3 that template.yaml's PythonRuntime allows, the newest first."""


@dataclass(frozen=True, slots=True)
class Interpreter:
    """A Python of this machine.

    Attributes:
        path: The program.
        minor: Its minor version: 13 for Python 3.13.
    """

    path: Path
    minor: int

    @property
    def runtime(self) -> str:
        """Its name as a Lambda runtime."""
        return f"python3.{self.minor}"


def newest_interpreter() -> Interpreter:
    """Find the newest Python of a version that Lambda has."""
    for minor in LAMBDA_MINORS:
        for path in _candidates(minor):
            if _answers(path, minor):
                return Interpreter(path, minor)
    return Interpreter(Path(sys.executable), sys.version_info.minor)


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
