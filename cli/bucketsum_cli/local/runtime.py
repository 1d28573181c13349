"""Makes what the local workers run: the interpreter at hand, with what a Lambda runtime has."""

from __future__ import annotations

import shlex
import shutil
import subprocess
import sys
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING

from bucketsum_cli import emulator
from bucketsum_cli.errors import CannotDoError

if TYPE_CHECKING:
    from bucketsum_cli.local.interpreter import Interpreter


def make_runtime(project: Path, interpreter: Interpreter) -> Path:
    """Make the interpreter that workers run: the standard library and boto3, as Lambda has.

    boto3 and what it needs are those of the project's lock. Returns the program; made once.
    """
    version = metadata.version("boto3")
    folder = project / emulator.FOLDER / "runtime" / f"{interpreter.runtime}-boto3-{version}"
    program = folder / "bin" / "python"
    ready = folder / ".ready"
    if not ready.exists():
        shutil.rmtree(folder, ignore_errors=True)
        uv = [sys.executable, "-m", "uv", "--quiet"]
        _run([*uv, "venv", "--python", str(interpreter.path), str(folder)])
        pins = ["--constraint", str(project / "requirements.lock")]
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
