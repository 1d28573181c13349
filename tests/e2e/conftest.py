"""The real template on a real local emulator, once in each worker of the end-to-end tests."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from bucketsum_cli.emulator import LocalProject
from bucketsum_cli.local import launcher
from bucketsum_cli.local.deploy import bring_up

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bucketsum_cli.stack import Stack

ROOT = Path(__file__).parents[2]

_PARTS = (
    "layers", "src", "statemachines", "requirements.lock", "samconfig.toml", "template.yaml",
    "README.md", "LICENSE",
)  # fmt: skip


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
def stack(project: LocalProject) -> Iterator[Stack]:
    """The deployed stack; its local emulator ends with the tests."""
    yield bring_up(project, {})
    launcher.stop(project)


@pytest.fixture
def at_project(
    project: LocalProject, stack: Stack, monkeypatch: pytest.MonkeyPatch
) -> LocalProject:
    """Commands with ``--local`` find the deployed stack from here."""
    assert stack.bucket
    monkeypatch.chdir(project.folder)
    return project
