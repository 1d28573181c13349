"""The real template on a real local emulator, once in each worker of the end-to-end tests."""

from __future__ import annotations

import fcntl
import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Final

import pytest

from bucketsum_cli.local import launcher
from bucketsum_cli.local.deploy import bring_up
from bucketsum_cli.machine.emulator_state import LocalProject

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bucketsum_cli.aws.stack import Stack

ROOT = Path(__file__).parents[2]

_PARTS = (
    "layers", "src", "statemachines", "requirements.lock", "samconfig.toml", "template.yaml",
    "README.md", "LICENSE",
)  # fmt: skip
_PROJECT: Final = "PROJECT"
"""Stands for the folder of a project in the shared build.toml."""


@pytest.fixture(scope="session")
def project(tmp_path_factory: pytest.TempPathFactory) -> LocalProject:
    """A copy of what is deployed, so that a developer's own local emulator is left alone."""
    copy = tmp_path_factory.mktemp("project")
    for part in _PARTS:
        source = ROOT / part
        if source.is_dir():
            shutil.copytree(source, copy / part, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copyfile(source, copy / part)
    return LocalProject.at(copy)


@pytest.fixture(scope="session")
def stack(project: LocalProject, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    """The deployed stack; its local emulator ends with the tests."""
    own = tmp_path_factory.getbasetemp()
    shared = (own.parent if "PYTEST_XDIST_WORKER" in os.environ else own) / "layer"
    shared.mkdir(exist_ok=True)
    yield _bring_up_with_shared_layer(project, shared)
    launcher.stop(project)


def _bring_up_with_shared_layer(project: LocalProject, shared: Path) -> Stack:
    """Deploy *project* with the layer in *shared*; if there is none, build it and keep it there.

    The layer takes most of the time of `sam build`. SAM uses a cached layer if build.toml names
    the folder of its source and the hash of it; otherwise it builds the layer again.
    """
    with (shared / "lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        if not (shared / "build.toml").exists():
            stack = bring_up(project, {})
            shutil.copytree(project.home / "build-cache", shared / "build-cache")
            definitions = (project.home / "build.toml").read_text()
            (shared / "build.toml").write_text(definitions.replace(str(project.folder), _PROJECT))
            return stack
    shutil.copytree(shared / "build-cache", project.home / "build-cache")
    definitions = (shared / "build.toml").read_text()
    (project.home / "build.toml").write_text(definitions.replace(_PROJECT, str(project.folder)))
    return bring_up(project, {})


@pytest.fixture
def at_project(
    project: LocalProject, stack: Stack, monkeypatch: pytest.MonkeyPatch
) -> LocalProject:
    """Commands with ``--local`` find the deployed stack from here."""
    assert stack.bucket
    monkeypatch.chdir(project.folder)
    return project
