"""A stack that can sweep: its table and bucket in moto, its state machine simulated."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Final, Protocol
from xml.etree import ElementTree as ET

import boto3
import pytest
from moto import mock_aws
from tests.cli.aws_calls import HEALTHY, answered, change_calls
from tests.cli.deployed import deploy_with_sweeps
from tests.cli.tune.state_machine import StateMachine
from tests.cli.tune.sweeps import a_run, analysed
from tests.support.clients import shared_client
from tests.support.moto_state import set_up
from tests.support.sam_template import create_table

from bucketsum_cli.arguments.target import Target
from bucketsum_cli.aws.connection import Connection
from bucketsum_cli.aws.stack import Stack
from bucketsum_cli.emulator.emulator_state import LocalProject
from bucketsum_cli.tune import progress, recorded_runs
from bucketsum_cli.tune.here import place
from bucketsum_cli.tune.plots.plot import Plot
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
def undrawn(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave the plots of reports empty: drawing one takes a tenth of a second."""
    monkeypatch.setattr(Plot, "svg", lambda _plot, name: ET.Element("svg", id=f"{name}-undrawn"))


def _deploy() -> None:
    deploy_with_sweeps()
    create_table(shared_client("dynamodb"), "MeasurementsTable", TABLE)


@pytest.fixture
def stack() -> Iterator[Stack]:
    """A deployed stack with sweeps."""
    with mock_aws():
        set_up(_deploy)
        yield Target().find()


@pytest.fixture
def measurements(stack: Stack) -> MeasurementsTable:
    """The table of the deployed stack, as template.yaml makes it."""
    assert stack.outputs[TABLE] == TABLE
    return MeasurementsTable(shared_client("dynamodb"), TABLE)


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


class Record(Protocol):
    """Writes a run that has ended, as the stack would have."""

    def __call__(
        self, cells: Sequence[CellRow], samples: Sequence[Sample], run: Run | None = None
    ) -> Run:
        """Write it; returns the run as it is recorded."""
        ...


@pytest.fixture
def record(stack: Stack) -> Record:
    """Writes the items of a run 25 at a time."""
    assert stack.outputs[TABLE] == TABLE
    client = shared_client("dynamodb")

    def write(cells: Sequence[CellRow], samples: Sequence[Sample], run: Run | None = None) -> Run:
        ended, rows, kept = analysed(cells, samples, run or a_run())
        puts: list[dict[str, Any]] = []
        collecting: Any = SimpleNamespace(put_item=lambda **request: puts.append(request["Item"]))
        table = MeasurementsTable(collecting, TABLE)
        table.record_run(ended)
        for sample in kept:
            table.record_sample(ended.run_id, sample)
        for row in rows:
            table.record_cell(ended.run_id, row)
        for start in range(0, len(puts), 25):
            batch = [{"PutRequest": {"Item": item}} for item in puts[start : start + 25]]
            client.batch_write_item(RequestItems={TABLE: batch})
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
