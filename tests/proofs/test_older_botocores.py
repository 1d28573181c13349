"""The functions start, and sign, with the botocore of older runtimes."""

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest
from tests.proofs.expanded import ROOT
from tests.support.settings import VARIABLES

LOCKS: Final = sorted((ROOT / "tests" / "proofs").glob("botocore-*.lock"))
UNIT: Final = ROOT / "tests" / "unit"
TESTS: Final = (UNIT / "test_clients.py", *UNIT.glob("test_signed_*.py"))
WARNINGS: Final = ("-W", "ignore::DeprecationWarning")  # newer Pythons advise older botocores
NEWER: Final = "eusc-de-east-1 or every_region"
"""Tests of a partition, and of a number of Regions, that older versions do not have."""

FUNCTIONS: Final = sorted(
    f"{path.parents[1].name}.functions.{path.stem}"
    for path in (ROOT / "layers").glob("*/*/functions/[a-z]*.py")
)
PRIVATE: Final = {
    "bucketsum.hashing.small_object_connections",
    "bucketsum.invocation.clients",
    "bucketsum.s3.chosen_reader",
    "bucketsum.s3.signed_requests",
}
"""Modules that use what botocore may change (`tests/template/test_botocore_names.py`)."""

KEYS: Final = {"AWS_ACCESS_KEY_ID": "AKIDEXAMPLE", "AWS_SECRET_ACCESS_KEY": "secret"}


@pytest.fixture(scope="module", params=LOCKS, ids=lambda lock: lock.stem)
def older(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with an older botocore, named as its lock file."""
    lock: Path = request.param
    folder = tmp_path_factory.mktemp("older") / lock.stem
    install = ("-m", "uv", "pip", "install", "--quiet", "--require-hashes")
    target = ("--python", sys.executable, "--target", folder, "--requirement", lock)
    subprocess.run([sys.executable, *install, *target], check=True)
    return folder


def test_clients_are_those_of_an_older_botocore(older: Path) -> None:
    """The tests of clients and of signatures pass with it."""
    command = ["-m", "pytest", "-n0", "-q", *WARNINGS, *map(str, TESTS), "-k", f"not ({NEWER})"]
    done = subprocess.run(
        [sys.executable, *command], cwd=ROOT, env=os.environ | {"PYTHONPATH": str(older)},
        check=False, capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout
    assert len(TESTS) > 1
    assert re.search(r"\d{2,} passed", done.stdout)


def test_functions_start_with_an_older_botocore(older: Path) -> None:
    """Each is wired as it is imported: it makes its clients, and decides how to connect."""
    script = f"import sys, botocore, {', '.join(FUNCTIONS)}; print(botocore.__file__, *sys.modules)"
    environment = os.environ | VARIABLES | KEYS | {"PYTHONPATH": str(older)}
    done = subprocess.run(
        [sys.executable, *WARNINGS, "-c", script], env=environment, check=False,
        capture_output=True, text=True,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    file, *modules = done.stdout.split()
    assert Path(file).is_relative_to(older)
    assert (older / f"{older.name}.dist-info").is_dir()
    assert {*modules} >= {*FUNCTIONS, *PRIVATE}
    assert len(FUNCTIONS) == 7
