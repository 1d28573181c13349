"""A plugin of pytest: tests of questions, unchanged, with a real Trino in place of DuckDB.

Use it with ``-p tests.cli.trino.plugin``; ``make trino`` does.
"""

from contextlib import ExitStack
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

import pytest
from tests.cli.trino.trino_engine import open_in_trino
from tests.cli.trino.trino_server import Trino, java, trino_server

from bucketsum_cli.snapshots import tables

RELEASE: Final = Path(__file__).parents[3] / ".venv" / "trino"
_STACK: Final = pytest.StashKey[ExitStack]()
_TRINO: Final = pytest.StashKey[Trino]()
_MISSING: Final = pytest.StashKey[str]()


def pytest_configure(config: pytest.Config) -> None:
    """Start Trino before a test module imports what it replaces."""
    program = java()
    if program is None or not (RELEASE / "lib").is_dir():
        lacks = "Java 24 or newer" if program is None else f"Trino in {RELEASE}"
        config.stash[_MISSING] = f"this machine has no {lacks}: no question was asked of Trino"
        return
    stack = config.stash[_STACK] = ExitStack()
    folder = stack.enter_context(TemporaryDirectory(prefix="bucketsum-trino-"))
    trino = stack.enter_context(trino_server(program, RELEASE, Path(folder)))
    config.stash[_TRINO] = trino
    stack.enter_context(pytest.MonkeyPatch.context()).setattr(
        tables, "open_snapshot", partial(open_in_trino, trino)
    )


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Skip every test, with the reason, where Trino cannot run."""
    if reason := config.stash.get(_MISSING, None):
        for item in items:
            item.add_marker(pytest.mark.skip(reason=reason))


def pytest_unconfigure(config: pytest.Config) -> None:
    """Stop Trino, and delete its files."""
    if stack := config.stash.get(_STACK, None):
        stack.close()


@pytest.fixture(scope="session")
def trino(pytestconfig: pytest.Config) -> Trino:
    """The server."""
    return pytestconfig.stash[_TRINO]
