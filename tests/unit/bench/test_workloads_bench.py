"""Experiments of workloads: their plans, data sets, tables, and the program in Go."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest
from bench.sandbox.objects import BUCKET
from bench.tables.options import matching
from bench.workloads.command import DOCUMENT, NAMES
from bench.workloads.experiments import EXPERIMENTS, Experiment
from bench.workloads.report import MeasuredWorkload
from bench.workloads.runner import ensured, plan
from tests.support.s3_server import hostile_s3
from tests.support.sha1 import sha1_of

from bucketsum_cli.tune.here.process import PROGRAM, Configuration
from bucketsum_lab.protocol.objects import PlannedObject
from bucketsum_lab.protocol.samples import Billing, Reading, Sample, SampleFailure, SampleStatus
from bucketsum_lab.workloads import WORKLOADS, WorkloadName
from bucketsum_lab.workloads.fetch.data_set import ITEMS
from bucketsum_lab.workloads.fetch.workload import SET_BYTES_MIN

ROOT: Final = Path(__file__).parents[3]
SMALL = Experiment(
    "small", "A title", {
        "workload": "fetch", "object_bytes": [SET_BYTES_MIN], "memory_mb": [512],
        "chunk_bytes": [65_536], "schedule": ["all-first", "shell"], "runs": 2, "warm_up": False,
    },
)  # fmt: skip


@pytest.mark.parametrize("experiment", EXPERIMENTS, ids=lambda experiment: experiment.name)
def test_every_experiment_can_be_planned(experiment: Experiment) -> None:
    """As a sweep, in full and quickly; a quick one has one sample of each cell that can run."""
    assert plan(experiment).samples
    quick = plan(experiment.quickly())
    assert quick.samples == len([cell for cell in quick.cells if not cell.refused])
    assert {cell.concurrency for cell in plan(experiment).cells} == {1}


def test_every_experiment_has_its_place_in_the_document() -> None:
    """Each table is written between its markers."""
    document = (ROOT / DOCUMENT).read_text("utf-8")
    for name in NAMES:
        assert document.count(f"<!-- bench {name} -->") == 1
        assert document.count(f"<!-- /bench {name} -->") == 1


def test_experiments_are_chosen_by_a_part_of_their_names() -> None:
    """A part that fits none is refused with all names."""
    assert matching(("memory",), NAMES) == ["fetch-memory"]
    assert matching((), NAMES) == [*NAMES]
    with pytest.raises(ValueError, match="no name contains 'x9'; there are transfer-patterns, "):
        matching(("x9",), NAMES)


def test_a_data_set_is_made_once(tmp_path: Path) -> None:
    """Its files lie beside the main object, as in the sweep's bucket."""
    workload = WORKLOADS[WorkloadName.FETCH]
    planned = PlannedObject("objects/set.json", SET_BYTES_MIN, generated=True)
    known = ensured(tmp_path, planned, workload)
    main = tmp_path / BUCKET / "objects" / "set.json"
    assert known["sha1"] == sha1_of(main.read_bytes())
    assert len(list((tmp_path / BUCKET / "objects" / "set").iterdir())) == ITEMS
    main.unlink()
    assert ensured(tmp_path, planned, workload) == known
    assert not main.exists()


def test_the_prober_in_the_sandbox_probes_as_lambda_does(tmp_path: Path) -> None:
    """A line for each job; an error has its name, and the next job is still answered."""
    event = {
        "cell_id": "c", "chunk_bytes": 65_536, "streams": 1, "concurrency": 1, "object": 0,
        "bucket": BUCKET, "key": "one", "size_bytes": 5, "sha1": sha1_of(b"bytes"),
        "contents": None, "workload": "hash",
    }  # fmt: skip
    jobs = [{}, *(event | {"key": key} for key in ("gone", "one"))]
    configured = Configuration(512, tmp_path, {})
    with hostile_s3() as s3:
        s3.put(f"{BUCKET}/one", b"bytes")
        done = subprocess.run(
            [sys.executable, "-m", PROGRAM, configured.program_argument],
            input="".join(f"{json.dumps(job)}\n" for job in jobs),
            env=os.environ | {"AWS_ENDPOINT_URL_S3": s3.endpoint_url}, cwd=ROOT,
            check=True, capture_output=True, text=True,
        )  # fmt: skip
    ready, gone, good = map(json.loads, done.stdout.splitlines())
    assert ready == {}
    assert (gone["status"], gone["error"]) == ("failed", "ObjectGone")
    assert (good["status"], good["digest_ok"], good["size_bytes"]) == ("ok", True, 5)


def sample(cell_id: str, run: int, seconds: float, **own: int) -> Sample:
    """A sample that took *seconds*."""
    reading, billing = Reading(1, seconds, 1.0), Billing(cold=False, billed_ms=2000)
    return Sample(
        cell_id, run, 1, SampleStatus.OK, "", reading=reading, billing=billing, own=own
    )  # fmt: skip


def test_a_table_has_the_workloads_own_columns_and_the_causes_of_failures() -> None:
    """Parameters that do not vary, and columns without a value, are left out."""
    planned = plan(SMALL)
    first, shell = (cell.cell_id for cell in planned.cells)
    own = {
        "fetch_ms": 900,
        "fetch_idle_ms": 1100,
        "work_ms": 1100,
        "work_idle_ms": 900,
        "items": 12,
    }
    failure = SampleFailure("NotInstalled", "missing: unzip")
    samples = [sample(first, 1, 2.0, **own), sample(first, 2, 3.0, **own)]
    samples.append(Sample(shell, 1, 1, SampleStatus.FAILED, "", failure=failure))
    table = MeasuredWorkload(SMALL, planned, samples).table("a machine")
    titles = [column if isinstance(column, str) else column.title for column in table.columns]
    assert titles[:3] == ["memory mb", "schedule", "seconds"]
    assert {"fetching / idle s", "D + P / max s", "remarks"} <= set(titles)
    assert not {"workers", "work", "in page cache"} & set(titles)
    good, bad = (dict(zip(titles, cells, strict=True)) for cells in table.cells())
    assert table.remark.endswith(" a machine. Runs of each: 2.")
    assert (good["seconds"], good["D + P / max s"]) == ("2.50 (2.00-3.00)", "2.00 / 1.10")
    assert (bad["seconds"], bad["remarks"]) == ("", "NotInstalled: missing: unzip")


def test_json_has_every_sample_and_the_input() -> None:
    """So that another table can be made of it."""
    planned = plan(SMALL)
    document = MeasuredWorkload(
        SMALL, planned, [sample(planned.cells[0].cell_id, 1, 2.0)]
    ).as_json()
    assert document["sweep"] == SMALL.sweep
    assert [entry["seconds"] for entry in document["samples"]] == [2.0]
