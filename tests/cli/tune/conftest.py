"""A stack that can sweep: its table and bucket in moto, its state machine simulated."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final

import boto3
import pytest
from moto import mock_aws
from tests.cli.aws_calls import HEALTHY, answered, change_calls
from tests.cli.deployed import deploy_with_sweeps
from tests.cli.tune.state_machine import StateMachine
from tests.cli.tune.sweeps import a_run, analysed
from tests.support.moto_state import set_up
from tests.support.sam_template import create_table
from tests.support.sweeps import put_sample

from bucketsum_cli.arguments.target import Target
from bucketsum_cli.aws.connection import Connection
from bucketsum_cli.aws.stack import Stack
from bucketsum_cli.emulator.emulator_state import LocalProject
from bucketsum_cli.tune import progress, recorded_runs
from bucketsum_cli.tune.here import place
from bucketsum_lab.protocol.run_records import CellRow, Run
from bucketsum_lab.protocol.samples import Sample
from bucketsum_lab.results.measurements_table import MeasurementsTable

TABLE: Final = "MeasurementsTableName"  # the outputs of the made-up stack are their own names


@pytest.fixture(autouse=True)
def no_runs_of_the_developer(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Let no test find the runs of the clone that the command is in."""
    for module in (recorded_runs, place):
        monkeypatch.setattr(module, "runs_folder", lambda: tmp_path / "runs")


@pytest.fixture
def stack() -> Iterator[Stack]:
    """A deployed stack with sweeps."""
    with mock_aws():
        set_up(deploy_with_sweeps)
        yield Target().find()


@pytest.fixture
def measurements(stack: Stack) -> MeasurementsTable:
    """The table of the deployed stack, as template.yaml makes it."""
    assert stack.outputs[TABLE] == TABLE
    dynamodb = boto3.client("dynamodb")
    create_table(dynamodb, "MeasurementsTable", TABLE)
    return MeasurementsTable(dynamodb, TABLE)


@pytest.fixture
def state_machine(measurements: MeasurementsTable, monkeypatch: pytest.MonkeyPatch) -> StateMachine:
    """The simulated state machine behind the stack's client; a prober on arm64."""
    machine, make_client = StateMachine(measurements), Connection.client

    def client(connection: Connection, service: str) -> Any:  # noqa: ANN401 - as `Connection.client`
        is_simulated = service == "stepfunctions"
        return machine if is_simulated else make_client(connection, service)

    monkeypatch.setattr(Connection, "client", client)
    change_calls(monkeypatch, answered(HEALTHY))
    monkeypatch.setattr(progress, "_PAUSE_SECONDS", 0.0)
    monkeypatch.setattr(progress, "_SAMPLES_PER_SECOND", 1e9)
    return machine


@pytest.fixture
def sweep_bucket(stack: Stack) -> str:
    """The bucket that sweeps read from, empty."""
    name = stack.outputs["SweepBucketName"]
    boto3.client("s3").create_bucket(Bucket=name)
    return name


@pytest.fixture
def record(
    measurements: MeasurementsTable,
) -> Callable[[Sequence[CellRow], Sequence[Sample], Run | None], Run]:
    """Writes a run that has ended, as the stack would have."""

    def write(cells: Sequence[CellRow], samples: Sequence[Sample], run: Run | None = None) -> Run:
        ended, rows, kept = analysed(cells, samples, run or a_run())
        measurements.record_run(ended)
        for sample in kept:
            put_sample(boto3.client("dynamodb"), TABLE, ended.run_id, sample)
        for row in rows:
            measurements.record_cell(ended.run_id, row)
        return ended

    return write


BEFORE: Final = """\
version = 0.1

[default.deploy.parameters]
stack_name = "bucketsum" # ours
parameter_overrides = "MemorySize=128 BatchSize=2"
"""


@pytest.fixture
def samconfig(project: LocalProject) -> Path:
    """The file of a project, which is the current folder."""
    file = project.folder / "samconfig.toml"
    file.write_text(BEFORE)
    return file
