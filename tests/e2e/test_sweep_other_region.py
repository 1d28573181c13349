"""The packaged template in another Region: it needs no clone, and its sweeps have prices there."""

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import boto3
import pytest
from tests.e2e.command import run

from bucketsum_cli.aws.stack import Stack
from bucketsum_cli.commands.local.deployment import correct_mappings
from bucketsum_cli.emulator import emulator_state
from bucketsum_cli.emulator.emulator_state import LocalProject
from bucketsum_cli.emulator.interpreter import newest_interpreter
from bucketsum_cli.emulator.sam import SAM_PROGRAM, Sam, template_parameters

REGION: Final = "eu-central-1"
NAME: Final = "packaged"
PACKAGES: Final = "packages-of-tests"


@pytest.fixture
def packaged(
    project: LocalProject, stack: Stack, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Path:
    """The packaged template, of which `sam deploy` has made a stack."""
    assert stack.name  # it is deployed, so that its built template is there
    interpreter = newest_interpreter()
    parameters = template_parameters(project.folder / "template.yaml", interpreter, {})
    local = Sam(project, emulator_state.running(project), interpreter, parameters)
    environment = local.environment() | {"AWS_DEFAULT_REGION": REGION}
    for name, value in local.aws.environment().items():
        monkeypatch.setenv(name, value)
    boto3.client("s3", region_name=REGION).create_bucket(
        Bucket=PACKAGES, CreateBucketConfiguration={"LocationConstraint": REGION}
    )
    packaged = tmp_path / "packaged.yaml"
    bucket = ["--s3-bucket", PACKAGES, "--s3-prefix", "bucketsum", "--region", REGION, "--use-json"]

    def sam(*arguments: str) -> None:
        command = [sys.executable, "-c", SAM_PROGRAM, *arguments, *bucket]
        done = subprocess.run(
            command, check=False, cwd=tmp_path, env=environment, capture_output=True, text=True
        )
        assert done.returncode == 0, done.stdout + done.stderr

    sam("package", "--template-file", str(local.template), "--output-template-file", str(packaged))
    sam(
        "deploy", "--template-file", str(packaged), "--stack-name", NAME,
        "--capabilities", "CAPABILITY_IAM", "--parameter-overrides", *local.overrides(),
    )  # fmt: skip
    correct_mappings(boto3.client("lambda", region_name=REGION))
    return packaged


def texts(value: object) -> Iterator[str]:
    """All texts in a document."""
    if isinstance(value, dict):
        value = [*value.values()]
    for item in value if isinstance(value, list) else ():
        yield from texts(item)
    if isinstance(value, str):
        yield value


def assert_it_refers_to_the_bucket_alone(packaged: Path, project: LocalProject) -> None:
    """Code, layers, state machines and README are all uploaded."""
    place = f"s3://{PACKAGES}/"
    document = json.loads(packaged.read_text(encoding="utf-8"))
    references = {text for text in texts(document) if text.startswith(f"{place}bucketsum/")}
    listed = boto3.client("s3", region_name=REGION).list_objects_v2(Bucket=PACKAGES)["Contents"]
    assert {f"{place}{item['Key']}" for item in listed} >= references
    application = document["Metadata"]["AWS::ServerlessRepo::Application"]
    assert {application["ReadmeUrl"], application["LicenseUrl"]} <= references
    folders = (str(project.folder), str(packaged.parent), "../")
    for text in texts({name: part for name, part in document.items() if name != "Parameters"}):
        assert not text.startswith(folders), text
    for name, resource in document["Resources"].items():
        for field in ("CodeUri", "ContentUri"):
            assert resource["Properties"].get(field, place).startswith("s3://"), name


def test_the_packaged_template_runs_a_sweep_in_another_region(
    packaged: Path, project: LocalProject
) -> None:
    """It needs no clone: a stack made of it in eu-central-1 plans, measures and prices a sweep."""
    assert_it_refers_to_the_bucket_alone(packaged, project)
    ended = run(
        "tune", "run", "--yes", "--memory", "256", "--chunk", "1MiB", "--object-size", "1MB",
        "--runs", "2", "--stack", NAME, "--region", REGION, "--json",
    )  # fmt: skip
    document = json.loads(ended.stdout)
    assert (document["run"]["status"], document["run"]["region"]) == ("SUCCEEDED", REGION)
