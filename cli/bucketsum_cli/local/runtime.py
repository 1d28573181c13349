"""Python environment of the local workers: what a Lambda runtime has."""

from __future__ import annotations

import shlex
import shutil
import subprocess
import sys
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING

from bucketsum_cli.errors import CannotDoError

if TYPE_CHECKING:
    from bucketsum_cli.emulator import LocalProject
    from bucketsum_cli.local.interpreter import Interpreter


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
