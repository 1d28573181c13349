"""cfn-lint has nothing to say about the state machines; `make check` lints the template."""

import importlib.metadata
import json
import re
import subprocess
from fnmatch import fnmatch
from pathlib import Path
from typing import Final

import pytest
from tests.support.sam_template import TEMPLATE, load_template
from tests.template.state_machines import inline_template

TESTS: Final = Path(__file__).parents[1]
REGIONS: Final = ("us-east-1", "cn-north-1")
REGISTRY: Final = re.compile(
    rb"https?://[\w.:-]*(pypi|pythonhosted|npmjs|registry|artifactory|nexus|goproxy)[\w.-]*"
    rb"|--(extra-)?index-url|\"resolved\": "
)
"""The host of a package registry, or an option or a field that names it."""


GENERATED: Final = {
    "AWS::Lambda::Function", "AWS::Lambda::LayerVersion", "AWS::Lambda::EventSourceMapping",
    "AWS::Lambda::Permission", "AWS::IAM::Role", "AWS::Events::Rule",
    "AWS::StepFunctions::StateMachine",
}  # fmt: skip
"""Types of the resources that SAM makes of its own."""

BROKEN: Final = """
Transform: AWS::Serverless-2016-10-31
Resources:
  ArrivalsQueue:
    Type: AWS::SQS::Queue
    Properties:
      VisibilityTimeout: 43201
"""


def matches(template: str) -> list[str]:
    """Errors and warnings of cfn-lint, by the rules of every Region that is listed."""
    from cfnlint.api import ManualArgs, lint  # noqa: PLC0415 - 1 s, which every worker would take

    return [match.message for match in lint(template, config=ManualArgs(regions=[*REGIONS]))]


def test_cfn_lint_has_nothing_against_the_state_machines() -> None:
    """cfn-lint looks at definitions within a template only."""
    assert matches(json.dumps(inline_template())) == []


def test_the_linted_regions_stand_for_all() -> None:
    """For cfn-lint, every Region has all types of the template, with the same properties."""
    package = Path(str(importlib.metadata.distribution("cfn-lint").locate_file("cfnlint")))
    types = GENERATED | {resource["Type"] for resource in load_template()["Resources"].values()}
    files = (package / "data" / "schemas" / "providers").glob("*-*.json")
    schemas = {file.stem: json.loads(file.read_bytes()) for file in files}
    assert {*REGIONS} < schemas.keys()
    for kind in (kind for kind in types if not kind.startswith("AWS::Serverless::")):
        assert {region.get(kind) for region in schemas.values()} == {schemas["us-east-1"][kind]}


def test_lint_would_find_a_mistake() -> None:
    """The silence means something: a value beyond a limit of AWS is reported."""
    [message] = matches(BROKEN)
    assert "43201" in message


def test_pytest_looks_into_every_folder_with_tests(request: pytest.FixtureRequest) -> None:
    """No folder has a name that pytest skips; "build" is on its own list."""
    skipped: list[str] = request.config.getini("norecursedirs")
    folders = {part for file in TESTS.rglob("test_*.py") for part in file.relative_to(TESTS).parts}
    assert "build" in folders
    assert [name for name in folders if any(fnmatch(name, pattern) for pattern in skipped)] == []


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
