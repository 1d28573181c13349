"""A copy of the project, and its layer, which takes most of `sam build`: built once for all."""

import fcntl
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import pytest

ROOT: Final = Path(__file__).parents[2]

CACHE: Final = "build-cache"
"""Name of SAM's cache folder, next to its build.toml."""

_PARTS: Final = (
    "layers", "src", "statemachines", "requirements.lock", "samconfig.toml", "template.yaml",
    "README.md", "LICENSE",
)  # fmt: skip
_PROJECT: Final = "PROJECT"
"""Stands for the folder of a project in the shared build.toml."""


def copied_project(into: Path) -> Path:
    """Copy what is deployed *into* a folder, without the bytecode that tests leave beside it."""
    for part in _PARTS:
        source = ROOT / part
        if source.is_dir():
            shutil.copytree(source, into / part, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copyfile(source, into / part)
    return into


def linked(source: Path, target: Path) -> None:
    """Copy a folder as links to its files, none of which is ever changed in place."""
    shutil.copytree(source, target, symlinks=True, copy_function=os.link)


@contextmanager
def shared_layer(project: Path, into: Path, factory: pytest.TempPathFactory) -> Iterator[None]:
    """Build *project* in the block with its cache in *into*: the first builds the layer for all.

    SAM uses a cached layer if build.toml names the folder of its source and the hash of it;
    otherwise it builds the layer again.
    """
    own = factory.getbasetemp()
    shared = (own.parent if "PYTEST_XDIST_WORKER" in os.environ else own) / "layer"
    shared.mkdir(exist_ok=True)
    definitions = shared / "build.toml"
    with (shared / "lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        if not definitions.exists():
            yield
            linked(into / CACHE, shared / CACHE)
            text = (into / "build.toml").read_text()
            definitions.write_text(text.replace(str(project), _PROJECT))
            return
    linked(shared / CACHE, into / CACHE)
    (into / "build.toml").write_text(definitions.read_text().replace(_PROJECT, str(project)))
    yield
