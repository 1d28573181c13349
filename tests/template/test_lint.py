"""cfn-lint has nothing to say about the template; `make check` asks SAM as well."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from fnmatch import fnmatch
from pathlib import Path
from typing import Any, Final

import pytest
from tests.support.sam_template import TEMPLATE
from tests.template.state_machines import inline_template

TESTS: Final = Path(__file__).parents[1]
BIN: Final = Path(sys.executable).parent
REGIONS: Final = ("us-east-1", "cn-north-1")
REGISTRY: Final = re.compile(
    rb"https?://[\w.:-]*(pypi|pythonhosted|npmjs|registry|artifactory|nexus|goproxy)[\w.-]*"
    rb"|--(extra-)?index-url|\"resolved\": "
)
"""The host of a package registry, or an option or a field that names it."""


BROKEN: Final = """
Transform: AWS::Serverless-2016-10-31
Resources:
  ArrivalsQueue:
    Type: AWS::SQS::Queue
    Properties:
      VisibilityTimeout: 43201
"""

Linted = dict[str, list[str]]


@pytest.fixture(scope="module")
def linted(tmp_path_factory: pytest.TempPathFactory) -> Linted:
    """Template → what cfn-lint has against it; one run, since it takes seconds to start."""
    folder = tmp_path_factory.mktemp("lint")
    machines, broken = folder / "machines.json", folder / "broken.yaml"
    machines.write_text(json.dumps(inline_template()))
    broken.write_text(BROKEN)
    templates = [TEMPLATE, machines, broken]
    done = subprocess.run(
        [BIN / "cfn-lint", "--format", "json", "--regions", *REGIONS, "--", *templates],
        check=False,
        capture_output=True,
        text=True,
        cwd=TEMPLATE.parent,
        env=os.environ | {"SAM_CLI_TELEMETRY": "0"},
    )
    assert done.stderr == ""
    matches: list[Any] = json.loads(done.stdout)
    return {
        path.name: [match["Message"] for match in matches if match["Filename"] == str(path)]
        for path in templates
    }


def test_cfn_lint_is_silent(linted: Linted) -> None:
    """No error and no warning, by the rules of every Region that is listed."""
    assert linted["template.yaml"] == []


def test_cfn_lint_has_nothing_against_the_state_machines(linted: Linted) -> None:
    """cfn-lint looks at definitions within a template only."""
    assert linted["machines.json"] == []


def test_lint_would_find_a_mistake(linted: Linted) -> None:
    """The silence means something: a value beyond a limit of AWS is reported."""
    [message] = linted["broken.yaml"]
    assert "43201" in message


def test_pytest_looks_into_every_folder_with_tests(request: pytest.FixtureRequest) -> None:
    """No folder has a name that pytest skips; "build" is on its own list."""
    skipped: list[str] = request.config.getini("norecursedirs")
    folders = {part for file in TESTS.rglob("test_*.py") for part in file.relative_to(TESTS).parts}
    assert "build" in folders
    assert [name for name in folders if any(fnmatch(name, each) for each in skipped)] == []


def test_no_file_names_a_package_registry() -> None:
    """Everybody installs from the registry that they have configured, not from ours."""
    listed = subprocess.run(
        ["git", "ls-files", "-z"],  # noqa: S607 - wherever git is
        cwd=TEMPLATE.parent,
        check=True,
        capture_output=True,
        text=True,
    )
    files = [TEMPLATE.parent / name for name in listed.stdout.split("\0") if name]
    naming = [
        str(path)
        for path in files
        if path.is_file() and path != Path(__file__) and REGISTRY.search(path.read_bytes())
    ]
    assert naming == []
