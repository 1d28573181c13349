"""A part of a release: a wheel that works alone."""

import os
import subprocess
import sys
import sysconfig
import venv
from collections.abc import Mapping
from pathlib import Path

import pytest
from tests.build.artifacts import with_tools
from tests.support.sam_template import TEMPLATE

from bucketsum import __version__


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of programs of an environment that has the wheel, and no clone."""
    folder = tmp_path_factory.mktemp("wheel")
    _run([sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", folder], TEMPLATE.parent)
    [wheel] = folder.glob("*.whl")
    venv.create(folder / "venv", with_pip=False, symlinks=True)
    python = folder / "venv" / "bin" / "python"
    uv = Path(sys.executable).with_name("uv")
    _run([uv, "pip", "install", "--offline", "--no-deps", "--python", python, wheel], folder)
    return python.parent


def _run(
    command: list[str | Path], folder: Path, more: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command, check=not more, capture_output=True, text=True, cwd=folder,
        env=with_tools(**(more or {})),
    )  # fmt: skip


def bucketsum(installed: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the installed command far from any clone, with the dependencies of these tests."""
    dependencies = {"PYTHONPATH": sysconfig.get_path("purelib")}
    return _run([installed / "bucketsum", *arguments], installed, dependencies)


@pytest.mark.skipif(os.name != "posix", reason="the wheel's programs are in bin")
def test_the_wheel_has_the_command(installed: Path) -> None:
    """`pipx install` needs none of the clone's files; the code is the wheel's."""
    assert bucketsum(installed, "--version").stdout == f"bucketsum, version {__version__}\n"
    ended = bucketsum(installed, "--help")
    assert (ended.returncode, ended.stderr) == (0, "")
    assert "backfill" in ended.stdout
    where: list[str | Path] = [
        installed / "python",
        "-c",
        "import bucketsum_cli; print(bucketsum_cli.__file__)",
    ]
    path = _run(where, installed, {"PYTHONPATH": sysconfig.get_path("purelib")}).stdout
    assert path.startswith(str(installed.parent))


def test_the_wheel_says_that_the_local_emulator_needs_a_clone(installed: Path) -> None:
    """A sentence with the remedy, no traceback."""
    for arguments in (("ls", "--local"), ("local", "up")):
        ended = bucketsum(installed, *arguments)
        assert (ended.returncode, ended.stdout) == (2, "")
        assert "is not inside a bucketsum project" in ended.stderr
        assert "change into a clone of bucketsum" in ended.stderr
        assert "Traceback" not in ended.stderr
