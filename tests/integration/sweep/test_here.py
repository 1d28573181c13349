"""Sweeps on this machine, with the processes that really measure and moto's server."""

import hashlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import boto3
import pytest
from mypy_boto3_s3 import S3Client
from tests.support.moto_server import moto_server
from tests.support.moto_versions import take_version_null

from bucketsum_cli.tune.here.process import Configuration, Processes

BUCKET: Final = "data"
CONTENT: Final = b"content" * 10_000
EVENT: Final = {
    "bucket": BUCKET, "key": "key", "size_bytes": len(CONTENT), "chunk_bytes": 16_384,
    "streams": 1, "workload": "hash", "sha1": hashlib.sha1(CONTENT).hexdigest(), "contents": None,
}  # fmt: skip
COMMAND: Final = (
    *(sys.executable, "-c", "from bucketsum_cli.main import main; main()"),
    *("tune", "run", "--here", "--bucket", BUCKET),
    *("--confine", "none", "--yes", "--memory", "512", "--chunk", "256KiB", "--streams", "1"),
    *("--object-size", "1MB"),
)


@pytest.fixture(scope="module")
def endpoint() -> Iterator[str]:
    """Address of a server with an object in a bucket."""
    with moto_server() as address, pytest.MonkeyPatch.context() as patch:
        take_version_null(patch)
        s3: S3Client = boto3.client("s3", endpoint_url=address)
        s3.create_bucket(Bucket=BUCKET)
        s3.put_object(Bucket=BUCKET, Key="key", Body=CONTENT)
        yield address


@pytest.fixture
def environment(endpoint: str, tmp_path: Path) -> dict[str, str]:
    """Variables by which a process reaches the server, and writes nowhere else."""
    return {
        "AWS_ENDPOINT_URL": endpoint,
        "AWS_EC2_METADATA_DISABLED": "true",
        "BUCKETSUM_HOME": str(tmp_path / "home"),
        "TMPDIR": str(tmp_path),
    }


@pytest.fixture
def processes(environment: dict[str, str], tmp_path: Path) -> Iterator[Processes]:
    """Processes without limits."""
    with Processes(Configuration(512, tmp_path / "work" / "512", environment)) as running:
        yield running


def test_only_the_first_probe_of_a_process_is_cold(processes: Processes) -> None:
    """As on Lambda: a process is kept, and another starts for a second event at once."""
    [first] = processes.probe(EVENT, 1)
    second, third = processes.probe(EVENT, 2)
    assert [answer["status"] for answer in (first, second, third)] == ["ok"] * 3
    assert [answer["cold"] for answer in (first, second, third)] == [True, False, True]
    assert first["log_stream"] == second["log_stream"] != third["log_stream"]
    assert first["init_ms"] > 0
    assert first["digest_ok"]


def test_a_process_that_dies_is_a_failed_sample_and_is_replaced(processes: Processes) -> None:
    """An error of the library leaves the process; the end of the process does not stop the run."""
    [first] = processes.probe(EVENT, 1)
    [gone] = processes.probe({**EVENT, "key": "gone"}, 1)
    assert (gone["status"], gone["error"]) == ("failed", "ObjectGone")
    os.kill(int(first["log_stream"]), signal.SIGKILL)
    [dead] = processes.probe(EVENT, 1)
    assert (dead["status"], dead["error"], dead["cause"]) == ("failed", "ProcessEnded", "SIGKILL")
    [replaced] = processes.probe(EVENT, 1)
    assert (replaced["status"], replaced["cold"]) == ("ok", True)


def recorded(tmp_path: Path) -> dict[str, Any]:
    """The run and its samples by name, of the only run's file."""
    [file] = (tmp_path / "home" / "runs").glob("*.jsonl")
    *lines, _ = file.read_text("utf-8").split("\n")
    items = {values["item"]: values for values in map(json.loads, lines)}
    samples = {name: values for name, values in items.items() if name.startswith("sample#")}
    return {"run": items["run"], "samples": samples}


def test_a_sweep_measures_and_leaves_nothing_behind(
    environment: dict[str, str], tmp_path: Path
) -> None:
    """Each sample is verified, warm-ups are cold, and temporary folders are gone."""
    command = (*COMMAND, "--concurrency", "1,2", "--runs", "2", "--json")
    done = subprocess.run(command, env={**os.environ, **environment}, capture_output=True,
                          check=False, text=True)  # fmt: skip
    assert done.returncode == 0, done.stderr
    document, content = json.loads(done.stdout), recorded(tmp_path)
    assert document["run"]["status"] == content["run"]["status"] == "SUCCEEDED"
    assert len(document["samples"]) == 6
    assert {sample["digest_ok"] for sample in content["samples"].values()} == {True}
    assert [sample["run"] for sample in content["samples"].values() if sample["cold"]] == [0, 0]
    assert not [*tmp_path.glob("bucketsum-here-*")]


def test_each_disk_is_measured_by_a_process_of_its_own(
    environment: dict[str, str], tmp_path: Path
) -> None:
    """Cells of each disk have their own process and speed; what needs no disk runs once."""
    disks = [tmp_path / name for name in ("disk-a", "disk-b")]
    for disk in disks:
        disk.mkdir()
    command = (
        *COMMAND, *("--workload", "unzip", "--mode", "tmp,stream", "--inflate", "zlib"),
        *("--runs", "1", "--disk", str(disks[0]), "--disk", str(disks[1]), "--json"),
    )  # fmt: skip
    done = subprocess.run(command, env={**os.environ, **environment}, capture_output=True,
                          check=False, text=True)  # fmt: skip
    assert done.returncode == 0, done.stderr
    document, content = json.loads(done.stdout), recorded(tmp_path)
    cells = {cell["cell_id"]: cell for cell in document["cells"]}
    wanted = [("tmp", str(disk)) for disk in disks]
    assert [(c["mode"], c.get("disk")) for c in cells.values()] == [("stream", None), *wanted]
    assert {disk["disk_folder"] for disk in document["disks"]} == {*map(str, disks)}
    processes = {
        (cells[sample["cell_id"]].get("disk"), sample["log_stream"])
        for sample in content["samples"].values()
    }
    assert len({process for _, process in processes}) == len(processes) == 3
    assert [n for disk in disks for n in disk.iterdir()] == []
    assert all(cell["n"] == 1 for cell in cells.values())


def test_ctrl_c_ends_all_processes_and_records_the_end(
    environment: dict[str, str], tmp_path: Path
) -> None:
    """Exit status 130; the run is STOPPED, with the samples until then."""
    command = (*COMMAND, "--runs", "900")
    sweep = subprocess.Popen(
        command, env={**os.environ, **environment}, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    runs = tmp_path / "home" / "runs"
    while not (runs.exists() and [*runs.glob("*.jsonl")] and recorded(tmp_path)["samples"]):
        assert sweep.poll() is None
        time.sleep(0.1)
    sweep.send_signal(signal.SIGINT)
    _, errors = sweep.communicate()
    content = recorded(tmp_path)
    assert sweep.returncode == 130, errors
    assert content["run"]["status"] == "STOPPED"
    assert content["run"]["samples_ok"] == len(content["samples"]) > 0
    assert not [*tmp_path.glob("bucketsum-here-*")]
    pids = {sample["log_stream"] for sample in content["samples"].values()}
    for pid in pids:
        with pytest.raises(ProcessLookupError):
            os.kill(int(pid), 0)
