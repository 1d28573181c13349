"""cost: measurements in, tables out, and docs/cost.md has what the shipped measurements give."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from bench.cost.command import DOCUMENT, cost, written
from bench.cost.measured import Measured, measured_in
from bench.cost.model import Handling, cost_of
from bench.cost.tables import per_tb, small_objects
from bench.readers.registry import AS_DEPLOYED, BASELINE
from click.testing import CliRunner
from tests.support.documents import Document
from tests.support.sam_template import load_template

if TYPE_CHECKING:
    from pathlib import Path


def profile(memory_mb: int, **speeds: float | None) -> dict[str, Any]:
    """One configuration of `bench readers`, with the speeds of two readers."""
    names = {"baseline": BASELINE, "deployed": AS_DEPLOYED}
    shape = {"link_mbit_per_s": 625, "object_bytes": 10**9, "burst_bytes": 0}
    return {
        "profile": shape | {"memory_mb": memory_mb},
        "warnings": [],
        "summaries": [
            {"reader": names[name], "mb_per_s": {"median": speed} if speed else None}
            for name, speed in speeds.items()
        ],
    }


def measured(folder: Path, *profiles: dict[str, Any], **objects_per_s: float) -> Measured:
    """Files with *profiles*, and small objects in batches (``batches_of_10``) at 256 MB."""
    variants = [
        {"variant": f"hasher, {name.replace('_', ' ')}", "objects_per_s": speed}
        for name, speed in objects_per_s.items()
    ]
    others = [
        {"variant": "baseline, batches of 10", "objects_per_s": 1.0},
        {"variant": "hasher, batches of 10, threads 8", "objects_per_s": 2.0},
    ]
    documents: dict[str, dict[str, Any]] = {
        "readers": {"date": "2026-11-21", "machine": "EPYC", "profiles": profiles},
        "function": {"machine": "A", "shapes": [{"memory_mb": 256, "variants": variants + others}]},
        "cold_start": {"machine": "B", "starts": [{"name": "hasher", "wall_ms": 200}]},
    }
    for name, document in documents.items():
        (folder / f"{name}.json").write_text(json.dumps(document))
    return measured_in(folder)


def test_the_deployed_reader_and_the_baseline_are_priced(tmp_path: Path) -> None:
    """In each configuration; a reader whose samples all failed has no price."""
    profiles = profile(512, baseline=60, deployed=70), profile(128, baseline=None, deployed=50)
    rows = per_tb(measured(tmp_path, *profiles)).rows
    assert [(row[0], row[3]) for row in rows] == [
        (512, AS_DEPLOYED),
        (512, BASELINE),
        (128, AS_DEPLOYED),
    ]


def test_ranges_are_paid_for(tmp_path: Path) -> None:
    """The deployed reader makes as many requests as its rule says, the baseline one."""
    costs = measured(tmp_path, profile(3008, baseline=60, deployed=50))
    assert {speed.reader: speed.gets for speed in costs.speeds} == {AS_DEPLOYED: 60, BASELINE: 1}
    row = per_tb(costs).as_json()[0]
    one_get = cost_of(Handling(512, "arm64", 10**9, 1)).requests
    assert row["requests_usd_per_tb"] == pytest.approx(1000 * (one_get + 59 * 0.0004e-3))


def test_a_terabyte_by_hand(tmp_path: Path) -> None:
    """1 GB at 100 MB/s and 1,024 MB on arm64: 10,000 s a terabyte, 13.3 cents and the requests."""
    (row,) = per_tb(measured(tmp_path, profile(1024, baseline=100))).rows
    assert row[5] == pytest.approx(10_000 * 0.0000133334 + row[7])
    assert row[7] == pytest.approx(1000 * 4.2675e-6, rel=1e-3)


def test_measurements_replace_assumptions(tmp_path: Path) -> None:
    """Each row says whether its time is measured or assumed."""
    costs = measured(tmp_path, profile(256, deployed=70), batches_of_10=2.0)
    rows = {(row[0], row[2]): (row[3], row[4]) for row in small_objects(costs).rows}
    assert rows[1_562_048, 10] == (500, "measured")
    assert rows[10_000, 1] == (pytest.approx(50, rel=0.01), "assumed")


def test_the_document_has_the_tables_of_the_measurements() -> None:
    """docs/cost.md is what the command writes from the measurements that ship with it."""
    text = DOCUMENT.read_text("utf-8")
    assert written(text) == text


def test_the_json_has_every_table() -> None:
    """The same numbers for a machine, with their origin and the prices' date."""
    done = CliRunner().invoke(cost, ["--json"], catch_exceptions=False)
    document = json.loads(done.output)
    assert document["cost-tb"][0]["usd_per_tb_arm64"] > 0
    assert all("not AWS" in origin for origin in document["origins"])
    assert {"prices", "cost-baseline", "cost-small", "cost-alternatives"} <= set(document)


def test_the_defaults_explained_are_the_templates() -> None:
    """Each default that docs/cost.md gives a reason for is the template's."""
    parameters = load_template()["Parameters"]
    for name, default, why in Document.read(DOCUMENT).table("parameter"):
        assert default.strip("`") == str(parameters[name.strip("`")]["Default"]), name
        assert why
