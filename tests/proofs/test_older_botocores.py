"""The functions start, and sign, with the botocore of older runtimes."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from typing import TYPE_CHECKING, Final

import pytest
from tests.proofs.expanded import ROOT

if TYPE_CHECKING:
    from pathlib import Path

LOCKS: Final = sorted((ROOT / "tests" / "proofs").glob("botocore-*.lock"))
UNIT: Final = ROOT / "tests" / "unit"
TESTS: Final = (UNIT / "test_clients.py", *UNIT.glob("test_signed_*.py"))
WARNINGS: Final = ("-W", "ignore::DeprecationWarning")  # newer Pythons advise older botocores
NEWER: Final = "eusc-de-east-1 or every_region"
"""Tests of a partition, and of a number of Regions, that older versions do not have."""


@pytest.mark.parametrize("lock", LOCKS, ids=lambda lock: lock.stem)
def test_clients_are_those_of_an_older_botocore(lock: Path, tmp_path: Path) -> None:
    """The tests of clients and of signatures pass with it; the layer logs its version."""
    install = ("-m", "uv", "pip", "install", "--quiet", "--require-hashes")
    target = ("--python", sys.executable, "--target", tmp_path, "--requirement", lock)
    subprocess.run([sys.executable, *install, *target], check=True)
    environment = os.environ | {"PYTHONPATH": str(tmp_path)}
    tests = [str(path) for path in TESTS]
    command = ["-m", "pytest", "-n0", "-q", *WARNINGS, *tests, "-k", f"not ({NEWER})"]
    done = subprocess.run(
        [sys.executable, *command], cwd=ROOT, env=environment, check=False, capture_output=True,
        text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout
    assert len(TESTS) > 1
    assert re.search(r"\d{2,} passed", done.stdout)
    version = (sys.executable, "-c", "import botocore; print(botocore.__version__)")
    shown = subprocess.run(version, env=environment, check=True, capture_output=True, text=True)
    assert f"botocore-{shown.stdout.strip()}" == lock.stem
