"""Environments of the readers, installed once under .bucketsum/."""

import subprocess
import sys
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Final

from bench.sandbox.requirements import Missing, tool
from bucketsum_cli.emulator.interpreter import newest_interpreter

_UV: Final = (sys.executable, "-m", "uv", "--quiet")
_PINS: Final = Path(__file__).with_name("environments.txt")
_PROJECT: Final = _PINS.parents[2]
_AWS_CLI: Final = "awscli==1.46.2"
_ON_PATH: Final = ("s5cmd", "rclone")

_GET: Final = {
    "anycrc": "PyPI has wheels for Python 3.11 and newer",
    "awscrt": "PyPI has wheels for Python 3.8 and newer",
    "pycurl": "PyPI has wheels for glibc 2.28 and newer",
    "aws": f"The benchmark installs {_AWS_CLI} from PyPI if it can be reached",
    "s5cmd": "go install github.com/peak/s5cmd/v2@v2.3.0, and put it on the PATH",
    "rclone": "apt-get install rclone",
}


@dataclass(frozen=True, slots=True)
class Environments:
    """The harness's interpreter, the programs and versions by name, and the missing readers."""

    python: Path
    programs: dict[str, str]
    missing: dict[str, Missing]
    versions: dict[str, str]


def install(folder: Path) -> Environments:
    """Install missing readers below *folder*; about a minute the first time.

    Raises:
        subprocess.CalledProcessError: The interpreter or boto3 itself cannot be installed.
    """
    interpreter = newest_interpreter()
    python = _environment(folder / f"readers-{interpreter.runtime}", interpreter.path)
    locked = ["--constraint", str(_PROJECT / "requirements.lock")]
    _pip_install(python, [*locked, f"boto3=={metadata.version('boto3')}"])
    aws = _environment(folder / "awscli", interpreter.path)  # its botocore is not the readers'
    programs = {name: path for name in _ON_PATH if (path := tool(name))}
    absent = {name: "it is not on the PATH" for name in _ON_PATH if name not in programs}
    lines = _PINS.read_text().splitlines()
    pins = [(python, line) for line in lines if line and not line.startswith("#")]
    for target, pin in (*pins, (aws, _AWS_CLI)):
        try:
            _pip_install(target, [pin])
        except subprocess.CalledProcessError as error:
            name = "aws" if pin == _AWS_CLI else pin.partition("==")[0]
            absent[name] = (error.stderr.strip().splitlines() or ["no reason given"])[-1]
    if "aws" not in absent:
        programs["aws"] = str(aws.with_name("aws").absolute())
    missing = {name: Missing(name, why, _GET[name]) for name, why in absent.items()}
    return Environments(python, programs, missing, _versions(python, programs))


def _environment(folder: Path, interpreter: Path) -> Path:
    python = folder / "bin" / "python"
    if not python.exists():
        _run([*_UV, "venv", "--python", str(interpreter), str(folder)])
    return python


def _pip_install(python: Path, requirements: list[str]) -> None:
    """Takes only milliseconds if everything is installed."""
    _run([*_UV, "pip", "install", "--python", str(python), *requirements])


_LIST: Final = (
    "import sys; from importlib import metadata as m; print('Python', sys.version.split()[0]);"
    "[print(d.name, d.version) for d in m.distributions()]"
)
_LIBRARIES: Final = (
    "Python", "boto3", "botocore", "urllib3", "s3transfer", "awscrt", "pycurl",
)  # fmt: skip


def _versions(python: Path, programs: dict[str, str]) -> dict[str, str]:
    listed = dict(line.split() for line in _run([str(python), "-c", _LIST]).splitlines())
    versions: dict[str, str] = {name: listed[name] for name in _LIBRARIES if name in listed}
    for name, program in programs.items():
        option = "--version" if name == "aws" else "version"
        versions[name] = _run([program, option]).splitlines()[0]
    if nginx := tool("nginx"):
        versions["nginx"] = _run([nginx, "-v"]).strip().rpartition("/")[2]
    return versions


def _run(argv: list[str]) -> str:
    completed = subprocess.run(  # noqa: S603 - commands of this module
        argv, check=True, capture_output=True, text=True
    )
    return completed.stdout or completed.stderr  # nginx prints its version to stderr
