"""The release: one version, least permissions, pinned actions."""

import json
import re
import subprocess
import tomllib
from typing import Any, Final

import pytest
import yaml
from tests.support.sam_template import TEMPLATE, load_template

from bucketsum import __version__

ROOT: Final = TEMPLATE.parent
WORKFLOWS: Final = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
WRITES: Final = {
    ("release.yml", "template"): {"id-token"},
    ("release.yml", "release"): {"contents"},
}
"""Workflow and job → the permissions to write that it needs."""


def workflow(name: str) -> dict[str, Any]:
    """A workflow as YAML has it."""
    text = (ROOT / ".github" / "workflows" / name).read_text(encoding="utf-8")
    loaded: dict[str, Any] = yaml.safe_load(text)
    return loaded


def test_template_package_and_library_have_one_version() -> None:
    """The tag of a release is compared with it, too."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    application = load_template()["Metadata"]["AWS::ServerlessRepo::Application"]
    assert application["SemanticVersion"] == project["version"] == __version__
    assert application["Description"].startswith("Records the SHA-1 of every object")
    assert application["SpdxLicenseId"] == project["license"]
    assert all((ROOT / application[name]).is_file() for name in ("LicenseUrl", "ReadmeUrl"))


def test_the_repository_accepts_name_and_author() -> None:
    """Letters, digits and hyphens alone, says its API."""
    application = load_template()["Metadata"]["AWS::ServerlessRepo::Application"]
    for name in ("Name", "Author"):
        assert re.fullmatch(r"[a-zA-Z0-9]+(-[a-zA-Z0-9]+)*", application[name])


@pytest.mark.parametrize("name", [path.name for path in WORKFLOWS])
def test_jobs_may_write_only_what_they_must(name: str) -> None:
    """A job without permissions of its own has those of the workflow, which never write."""
    document = workflow(name)
    assert set(document["permissions"].values()) <= {"read"}
    for job, body in document["jobs"].items():
        granted = body.get("permissions", {})
        writes = {scope for scope, access in granted.items() if access == "write"}
        assert writes == WRITES.get((name, job), set()), job


@pytest.mark.parametrize("name", [path.name for path in WORKFLOWS])
def test_actions_are_pinned_to_a_commit(name: str) -> None:
    """A branch or a tag can be moved to other code; a commit cannot."""
    used = [step["uses"] for job in workflow(name)["jobs"].values() for step in job["steps"]
            if "uses" in step]  # fmt: skip
    assert used
    for action in used:
        assert re.fullmatch(r"[\w-]+/[\w-]+@[0-9a-f]{40}", action), action


def test_make_package_without_a_bucket_says_what_is_missing() -> None:
    """Nothing is built before."""
    ended = subprocess.run(
        ["make", "--old-file=.venv/.ready", "package", "PACKAGE_BUCKET="],  # noqa: S607 - of PATH
        check=False,
        capture_output=True,
        text=True,
        cwd=ROOT,
    )
    assert ended.returncode == 2
    assert "make package PACKAGE_BUCKET=name" in ended.stderr
    assert "Build" not in ended.stdout


def test_make_sbom_lists_each_distribution_of_the_layer() -> None:
    """The bill of materials has the version and the hashes of all that goes into the layer."""
    subprocess.run(
        ["make", "--old-file=.venv/.ready", "sbom"],  # noqa: S607 - of PATH
        check=True,
        capture_output=True,
        cwd=ROOT,
    )
    bill = json.loads((ROOT / "dist" / "layer.cdx.json").read_text(encoding="utf-8"))
    lock = (ROOT / "layers" / "bucketsum" / "requirements.lock").read_text(encoding="utf-8")
    listed = {f"{part['name']}=={part['version']}": part for part in bill["components"]}
    assert set(listed) == set(re.findall(r"^([\w-]+==[\w.]+)", lock, re.MULTILINE))
    hashes = [value for part in listed.values()
              for value in part["externalReferences"][0]["hashes"]]  # fmt: skip
    assert {value["content"] for value in hashes} == set(re.findall(r"sha256:(\w+)", lock))


def test_data_of_others_lie_beside_their_licence() -> None:
    """Apache-2.0, section 4: a copy of the licence, the notice, and that files are changed."""
    files = [*(ROOT / "tests").rglob("data/*.json")]
    texts = {path: path.read_text("utf-8") for path in files}
    others = {path: text for path, text in texts.items() if "Apache-2.0" in text}
    assert others
    for path, text in others.items():
        assert "Version 2.0, January 2004" in (path.parent / "LICENSE").read_text("utf-8")
        assert "Amazon.com" in (path.parent / "NOTICE").read_text("utf-8")
        assert "changed to JSON" in text


ELSEWHERE: Final = {
    "chromium": "installed by a line of its own",
    "google-chrome": "as chromium",
    "mongod": "a server in Java speaks its protocol, too",
    "terraform": "Debian has no package of it; its outputs and its default are checked without it",
    "node": "its package and Debian's npm exclude each other; runners of GitHub have both",
}
"""Programs that tests look for, and that the list of continuous integration lacks → the reason."""


def test_what_tests_look_for_is_installed() -> None:
    """A test that is skipped everywhere catches nothing."""
    listed = re.findall(r"^(\S+) \S+$", (ROOT / ".ci" / "run").read_text("utf-8"), re.MULTILINE)
    tests = [path.read_text("utf-8") for path in (ROOT / "tests").rglob("test_*.py")]
    looked_for = {name for text in tests for name in re.findall(r'which\("([\w-]+)"\)', text)}
    assert looked_for - {*listed} == ELSEWHERE.keys()
