"""`bucketsum tune run --here`: the plan, the refusals, the record, and its readers."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

import boto3
import pytest
from tests.cli.conftest import Run
from tests.cli.tune.conftest import Record
from tests.cli.tune.sweeps import a_cell, good_samples

from bucketsum_cli.aws.stack import Stack
from bucketsum_cli.tune import machine as machine_module
from bucketsum_cli.tune.here import sweep
from bucketsum_cli.tune.here.place import PREFIX
from bucketsum_cli.tune.here.process import Processes
from bucketsum_lab.protocol.probe import ProbeAnswer
from bucketsum_lab.protocol.run_records import Run as SweepRun
from bucketsum_lab.results.measurements_table import MeasurementsTable

BUCKET: Final = "data"
SETTINGS: Final = ("--memory", "512", "--chunk", "1MiB", "--streams", 1, "--object-size", "100MB")
HERE: Final = ("tune", "run", "--here", "--bucket", BUCKET, "--yes", *SETTINGS)
WHOLE: Final = (*HERE, "--confine", "none")
CREATED: Final = ["s3:ObjectCreated:*"]
QUEUE: Final = "arn:aws:sqs:us-east-1:123456789012:arrivals"


class _Processes(Processes):
    """Processes that answer by a formula; none is started."""

    on_probe: Callable[[], None] = staticmethod(lambda: None)

    def probe(self, event: Mapping[str, Any], concurrency: int) -> list[ProbeAnswer]:
        """Half a second for each event."""
        type(self).on_probe()
        assert event["key"] == f"{PREFIX}objects/100000000.bin" or event["bucket"] != BUCKET
        answer: ProbeAnswer = {
            "status": "ok", "size_bytes": event["size_bytes"], "seconds": 0.5, "cold": False,
            "mb_per_s": 200.0, "billed_ms": 500, "memory_mb": self._configuration.memory_mb,
        }  # fmt: skip
        return [answer] * concurrency


@pytest.fixture(autouse=True)
def machine(stack: Stack, monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine without control groups whose processes answer by a formula; a bucket."""
    assert stack.bucket != BUCKET
    monkeypatch.setattr(machine_module, "cgroup_roots", lambda _name: None)
    monkeypatch.setattr(sweep, "Processes", _Processes)
    monkeypatch.setattr(_Processes, "on_probe", staticmethod(lambda: None))
    monkeypatch.setattr(
        "bucketsum_lab.workloads.hash.workload.content", lambda _size: iter([b"content"])
    )
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    boto3.client("s3").create_bucket(Bucket=BUCKET)


def the_run(run: Run, run_id: str = "last") -> dict[str, Any]:
    """The run as JSON."""
    document: dict[str, Any] = run("tune", "show", run_id, "--json").document
    return document


@pytest.mark.usefixtures("undrawn")
def test_a_run_is_kept_in_a_file_and_read_like_any_other(run: Run, tmp_path: Path) -> None:
    """Without a stack's name, `show`, `list`, `export` and `report` read the file."""
    ended = run(*HERE)
    assert (ended.status, len([*(tmp_path / "runs").iterdir()])) == (0, 1)
    assert "limits    none: memory_mb is not enforced" in ended.out
    assert "recommended:" not in ended.out
    document = the_run(run)
    run_id = document["run"]["run_id"]
    assert (document["run"]["label"], document["run"]["status"]) == ("here", "SUCCEEDED")
    assert document["run"]["machine"]["confinement"] == "none"
    assert document["run"]["samples_ok"] == 6
    assert [cell["memory_mb"] for cell in document["cells"]] == [
        document["run"]["machine"]["ram_mb"]
    ]
    assert run_id in run("tune", "list").out
    assert run("tune", "export", run_id, "--format", "csv").out.count("\n") == 6
    page = tmp_path / "page.html"
    assert run("tune", "report", run_id, "-o", page).status == 0
    assert "a machine, without Lambda" in page.read_text("utf-8")


def test_a_machine_without_a_price_costs_nothing_that_is_known(run: Run) -> None:
    """Its dollars are absent, not zero; with a price they follow from the seconds."""
    run(*WHOLE)
    assert {cell["usd_per_tb"] for cell in the_run(run)["cells"]} == {None}
    run(*WHOLE, "--usd-per-hour", "3.6")
    [cell] = the_run(run)["cells"]
    assert cell["usd_per_tb"] == pytest.approx(0.5 * 0.001 / 100e6 * 1e12)


def test_a_run_in_the_table_of_a_stack_uses_its_bucket(
    run: Run, measurements: MeasurementsTable, sweep_bucket: str, tmp_path: Path
) -> None:
    """A named stack keeps the run, and its bucket for sweeps has the objects."""
    run("tune", "run", "--here", "--stack", "bucketsum", "--yes", *SETTINGS).assert_done()
    [recorded] = measurements.runs()
    assert isinstance(recorded, SweepRun)
    assert (recorded.label, len(measurements.samples(recorded.run_id))) == ("here", 6)
    assert recorded.machine is not None
    assert recorded.machine["confinement"] == "none"
    assert boto3.client("s3").list_objects_v2(Bucket=sweep_bucket)["KeyCount"] == 1
    assert not (tmp_path / "runs").exists()


def test_dry_run_makes_nothing(run: Run, tmp_path: Path) -> None:
    """The plan is JSON with the machine; no object, no file."""
    ended = run(*WHOLE, "--dry-run", "--json")
    assert (ended.status, ended.document["cells"]) == (0, 1)
    assert ended.document["machine"]["cores"] >= 1
    assert boto3.client("s3").list_objects_v2(Bucket=BUCKET)["KeyCount"] == 0
    assert not (tmp_path / "runs").exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("tune", "run", "--here", *SETTINGS), "--here needs --bucket NAME, or a stack"),
        (("tune", "run", "--bucket", BUCKET, *SETTINGS), "need --here"),
        ((*HERE, "--no-wait"), "--no-wait cannot be used with --here"),
        ((*HERE, "--bucket", "nowhere"), "--bucket nowhere: there is no such bucket"),
        ((*HERE, "--runs", 0), "this sweep cannot run: --runs is 0"),
        ((*HERE[:-2], "--key", "mine"), "--key names 'mine', which is not in the bucket data"),
        ((*HERE, "--confine", "lambda"), "--confine lambda needs control groups"),
        ((*HERE, "--usd-per-hour", 0), "--usd-per-hour"),
        (("tune", "run", "--disk", "/", *SETTINGS), "--disk need --here"),
        ((*HERE, "--disk", "/nowhere"), "--disk /nowhere: there is no such folder"),
        ((*HERE, "--disk", "/proc"), "--disk /proc cannot be written"),
        ((*HERE, "--disk", "."), "no setting of the workload hash uses a disk"),
        ((*HERE, "--workload", "unzip", "--disk", "."), "workload unzip uses a disk"),
        ((*HERE, "--usd-per-hour", 99, "--max-usd", 0), "above the limit of 0 (--max-usd)"),
    ],
)
def test_refusals_name_the_option_or_the_field(
    run: Run, arguments: tuple[object, ...], message: str, tmp_path: Path
) -> None:
    """Exit status 2, and nothing is recorded."""
    run(*arguments).assert_refused(message)
    assert not (tmp_path / "runs").exists()


@pytest.mark.parametrize(
    "notifications",
    [
        {"QueueConfigurations": [{"QueueArn": QUEUE, "Events": CREATED}]},
        {"EventBridgeConfiguration": {}},
    ],
)
def test_objects_are_never_made_where_somebody_is_notified(
    run: Run, notifications: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The receiver may be a hasher; it is named, and no object is made."""
    monkeypatch.setattr(
        "bucketsum_cli.tune.here.place.configuration_of", lambda _s3, _bucket: notifications
    )
    ended = run(*WHOLE)
    assert ended.status == 2
    assert f"would be reported to {'queue arn' if 'Queue' in str(notifications) else 'Event'}" in (
        ended.err
    )
    assert boto3.client("s3").list_objects_v2(Bucket=BUCKET)["KeyCount"] == 0


def test_a_bucket_that_the_stack_hashes_is_refused(
    run: Run, measurements: object, stack: Stack
) -> None:
    """However its notifications look."""
    assert measurements
    bucket = ("--bucket", stack.outputs["BucketName"], "--stack", "bucketsum")
    run("tune", "run", "--here", "--yes", *SETTINGS, *bucket).assert_refused(
        "the stack bucketsum hashes the objects of"
    )


def test_nothing_of_a_machine_can_be_applied(run: Run) -> None:
    """A setting of Lambda was not measured."""
    run(*WHOLE)
    run("tune", "apply", "last").assert_refused("was measured on a machine")


def test_a_machine_is_compared_with_every_memory_of_lambda(run: Run, record: Record) -> None:
    """Price per TB beside speed; `last` is the newest of files and table."""
    cells = [a_cell(memory_mb, 1_048_576) for memory_mb in (512, 1769)]
    samples = [sample for cell in cells for sample in good_samples(cell)]
    before = record(cells, samples)
    run(*WHOLE, "--usd-per-hour", "3.6")
    ended = run("tune", "compare", before.run_id, "last")
    assert "USD/TB before" in ended.out
    rows = [line for line in ended.out.splitlines() if "100.0 MB" in line]
    assert [row.split()[0] for row in rows] == ["512", "1769"]
    assert all("200.0" in row for row in rows)
    assert "they differ in machine: Lambda before" in ended.out


def test_runs_in_files_are_read_although_no_stack_is_there(run: Run) -> None:
    """A machine needs no stack; a stack that an option names must be there."""
    run(*WHOLE)
    boto3.client("cloudformation").delete_stack(StackName="bucketsum")
    ended = run("tune", "list", "--json")
    assert (ended.status, len(ended.document)) == (0, 1)
    assert "only the runs in" in ended.err
    assert run("tune", "list", "--stack", "bucketsum").status == 2


def test_a_file_that_is_no_run_is_named(run: Run, tmp_path: Path) -> None:
    """Not a traceback."""
    run(*WHOLE)
    (tmp_path / "runs" / "other.jsonl").write_text("{}\n")
    run("tune", "list").assert_refused("other.jsonl is not a run")


def test_a_memory_above_the_machines_is_refused_if_it_is_a_limit(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The limit would not be one."""
    monkeypatch.setattr(machine_module, "cgroup_roots", lambda _name: {"cpu": "c", "memory": "m"})
    monkeypatch.setattr(machine_module, "remove_roots", lambda _roots: None)
    monkeypatch.setattr("bucketsum_cli.machine.hardware.memory_mb", lambda: 500)
    run(*HERE).assert_refused("--memory is 512, more than the 500 MB of this machine")
