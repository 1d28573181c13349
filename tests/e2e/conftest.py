"""The real template on a real local emulator, once in each worker of the end-to-end tests."""

from collections.abc import Iterator

import pytest
from tests.support.shared_layer import copied_project, shared_layer

from bucketsum_cli.aws.stack import Stack
from bucketsum_cli.commands.local.deployment import bring_up
from bucketsum_cli.emulator import launcher
from bucketsum_cli.emulator.emulator_state import LocalProject
from bucketsum_cli.emulator.interpreter import newest_interpreter


@pytest.fixture(scope="session")
def project(tmp_path_factory: pytest.TempPathFactory) -> LocalProject:
    """A copy of what is deployed, so that a developer's own local emulator is left alone."""
    return LocalProject.at(copied_project(tmp_path_factory.mktemp("project")))


@pytest.fixture(scope="session")
def stack(project: LocalProject, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    """The deployed stack; its local emulator ends with the tests."""
    builds = project.home / newest_interpreter().runtime
    with shared_layer(project.folder, builds, tmp_path_factory):
        deployed = bring_up(project, {})
    yield deployed
    launcher.stop(project)


@pytest.fixture
def at_project(
    project: LocalProject, stack: Stack, monkeypatch: pytest.MonkeyPatch
) -> LocalProject:
    """Commands with ``--local`` find the deployed stack from here."""
    assert stack.bucket
    monkeypatch.chdir(project.folder)
    return project
