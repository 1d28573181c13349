"""The packaged template in another Region: it needs no clone, and its sweeps have prices there."""

from __future__ import annotations

import json
import subprocess
import sys
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
from bucketsum_cli.emulator.sam import Sam, template_parameters

REGION: Final = "eu-central-1"
NAME: Final = "packaged"
PACKAGES: Final = "packages-of-tests"


@pytest.fixture
def deployed(
    project: LocalProject, stack: Stack, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> str:
    """The name of a stack that `sam deploy` made of the packaged template alone."""
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
    bucket = ["--s3-bucket", PACKAGES, "--region", REGION]
    template = str(project.home / "build" / "template.yaml")

    def sam(*arguments: str) -> None:
        command = [sys.executable, "-m", "samcli", *arguments, *bucket]
        done = subprocess.run(
            command, check=False, cwd=tmp_path, env=environment, capture_output=True, text=True
        )
        assert done.returncode == 0, done.stdout + done.stderr

    sam("package", "--template-file", template, "--output-template-file", str(packaged))
    sam(
        "deploy", "--template-file", str(packaged), "--stack-name", NAME,
        "--capabilities", "CAPABILITY_IAM", "--parameter-overrides", *local.overrides(),
    )  # fmt: skip
    correct_mappings(boto3.client("lambda", region_name=REGION))
    return NAME


@pytest.mark.usefixtures("deployed")
def test_a_sweep_of_the_packaged_template_runs_in_another_region() -> None:
    """A stack deployed without a clone in eu-central-1 plans, measures and prices a sweep."""
    ended = run(
        "tune", "run", "--yes", "--memory", "256", "--chunk", "1MiB", "--object-size", "1MB",
        "--runs", "2", "--stack", NAME, "--region", REGION, "--json",
    )  # fmt: skip
    document = json.loads(ended.stdout)
    assert (document["run"]["status"], document["run"]["region"]) == ("SUCCEEDED", REGION)
