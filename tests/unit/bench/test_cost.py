"""cost: every item by hand, tables from measurements, and docs/explanation/cost.md as generated."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from bench.cost.alternatives import alternatives
from bench.cost.command import DOCUMENT, documents, lean, per_tb, small_objects, verification
from bench.cost.measured import MeasuredHandling, measured_in
from bench.cost.model import Handling, cost_of
from bench.cost.price_list import table_of
from bench.readers.registry import AS_DEPLOYED, BASELINE
from hypothesis import given
from hypothesis import strategies as st
from tests.support.documents import Document
from tests.support.sam_template import load_template

from bucketsum.hashing.ending import Purpose
from bucketsum.table.items import item_of
from bucketsum.table.row_parts import ReadSetup, Timing
from bucketsum.table.rows import Row, Status
from bucketsum_cli.backfill.estimate import ROW_WRITE_UNITS


def profile(memory_mb: int, **speeds: float | None) -> dict[str, Any]:
    """One configuration of `bench readers`, with the speeds of two readers."""
    names = {"baseline": BASELINE, "deployed": AS_DEPLOYED}
    shape = {"link_mbit_per_s": 625, "object_bytes": 10**9, "burst_bytes": 0}
    return {
        "profile": shape | {"memory_mb": memory_mb},
        "warnings": [],
        "summaries": [
            {
                "reader": names[name],
                "mb_per_s": {"median": speed} if speed else None,
                "gets": 60 if name == "deployed" else 1,
            }
            for name, speed in speeds.items()
        ],
    }


def measured(folder: Path, *profiles: dict[str, Any], **objects_per_s: float) -> MeasuredHandling:
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
    """Each GET that was counted costs a request."""
    costs = measured(tmp_path, profile(3008, baseline=60, deployed=50))
    assert {speed.reader: speed.gets for speed in costs.speeds} == {AS_DEPLOYED: 60, BASELINE: 1}
    row = per_tb(costs).rows[0]
    one_get = cost_of(Handling(512, "arm64", 10**9, 1)).requests
    assert row[7] == pytest.approx(1000 * (one_get + 59 * 0.0004e-3))


def test_a_terabyte_by_hand(tmp_path: Path) -> None:
    """1 GB at 100 MB/s and 1,024 MB on arm64: 10,000 s a terabyte, 13.3 cents and the requests."""
    (row,) = per_tb(measured(tmp_path, profile(1024, baseline=100))).rows
    assert row[5] == pytest.approx(10_000 * 0.0000133334 + row[7])
    assert row[7] == pytest.approx(1000 * 4.0175e-6, rel=1e-3)


def test_measurements_replace_assumptions(tmp_path: Path) -> None:
    """Each row says whether its time is measured or assumed."""
    costs = measured(tmp_path, profile(256, deployed=70), batches_of_10=2.0)
    rows = {(row[0], row[2]): (row[3], row[4]) for row in small_objects(costs).rows}
    assert rows[1_562_048, 10] == (500, "measured")
    assert rows[10_000, 1] == (pytest.approx(50, rel=0.01), "assumed")


def test_a_million_objects_need_not_cost_more_than_what_reads_them() -> None:
    """Without index and lines of healthy objects it costs at most 1.75 USD; with them, 2.70."""
    rows = {row[:2]: row[3] for row in lean(measured_in()).rows}
    assert rows["no", "problems"] <= 1.75
    assert rows["yes", "all"] == pytest.approx(2.70, abs=0.005)
    write = 0.625
    assert rows["yes", "all"] - rows["no", "all"] == pytest.approx(write)


def test_a_verification_costs_what_a_backfill_does() -> None:
    """40 TB in objects of 100 MB cost less than a tenth of AWS's fixity solution."""
    rows = {row[0]: row[1:] for row in verification().rows}
    count, usd, fixity_usd = rows[100_000_000]
    assert count == 400_000
    assert usd < fixity_usd / 10 == pytest.approx(12.016)
    reading_seconds = 40e12 / 75e6
    assert usd == pytest.approx(reading_seconds * 0.25 * 0.0000133334 + 400_000 * 2.4e-6, rel=0.1)


def test_the_documents_have_the_tables_of_the_measurements() -> None:
    """They are what the command writes from the measurements that ship with it."""
    for path, text in documents(measured_in()).items():
        assert path.read_text("utf-8") == text


def test_the_defaults_explained_are_the_templates() -> None:
    """Each default that docs/explanation/cost.md gives a reason for is the template's."""
    parameters = load_template()["Parameters"]
    for name, default, why in Document.read(DOCUMENT).table("parameter"):
        assert default.strip("`") == str(parameters[name.strip("`")]["Default"]), name
        assert why


HANDLINGS = st.builds(
    Handling,
    memory_mb=st.integers(128, 10_240),
    architecture=st.sampled_from(["arm64", "x86_64"]),
    object_bytes=st.integers(1, 10**12),
    seconds=st.floats(0.001, 900),
    batch_size=st.integers(1, 10),
    gets=st.integers(1, 100),
)


def test_a_small_object_by_hand() -> None:
    """100 ms at 1,024 MB on x86, alone in its invocation, item by item."""
    cost = cost_of(Handling(1024, "x86_64", 10_000, 0.1))
    assert cost.lambda_time == pytest.approx(0.1 * 0.0000166667)
    assert cost.lambda_requests == pytest.approx(0.20e-6)
    assert cost.sqs == pytest.approx(3 * 0.40e-6)
    assert cost.s3 == pytest.approx(0.0004e-3)
    assert cost.dynamodb == pytest.approx(2 * 0.625e-6)
    assert cost.logs == pytest.approx(0.5e-9 * (710 + 1100))
    items = (cost.lambda_time, cost.lambda_requests, cost.sqs, cost.s3, cost.dynamodb, cost.logs)
    assert cost.total == pytest.approx(sum(items))
    assert cost.requests == pytest.approx(cost.total - cost.lambda_time)


def test_a_batch_of_ten_by_hand() -> None:
    """The invocation, its log, receiving and deleting are shared; the rest is not."""
    cost = cost_of(Handling(1024, "arm64", 10_000, 0.1, batch_size=10))
    assert cost.lambda_time == pytest.approx(0.1 * 0.0000133334)
    assert cost.lambda_requests == pytest.approx(0.02e-6)
    assert cost.sqs == pytest.approx(1.2 * 0.40e-6)
    assert cost.dynamodb == pytest.approx(2 * 0.625e-6)
    assert cost.logs == pytest.approx(0.5e-9 * (710 + 110))


def test_a_large_object_is_looked_up_first() -> None:
    """From 16 MiB on, half a read unit more."""
    small, large = (cost_of(Handling(512, "arm64", size, 1)) for size in (2**24 - 1, 2**24))
    assert large.dynamodb - small.dynamodb == pytest.approx(0.5 * 0.125e-6)


def test_time_is_billed_by_the_millisecond() -> None:
    """A tenth of a millisecond is one; a whole invocation is rounded up, not each object."""
    usd_per_ms = 0.001 * 0.0000133334
    assert cost_of(Handling(1024, "arm64", 1, 0.0001)).lambda_time == pytest.approx(usd_per_ms)
    shared = cost_of(Handling(1024, "arm64", 1, 0.0001, batch_size=10)).lambda_time
    assert shared == pytest.approx(usd_per_ms / 10)


@given(HANDLINGS)
def test_more_of_anything_never_costs_less(handling: Handling) -> None:
    """More memory, more time, more requests: never cheaper. Larger batches: never dearer."""
    total = cost_of(handling).total
    assert cost_of(replace(handling, memory_mb=handling.memory_mb + 1)).total >= total
    assert cost_of(replace(handling, seconds=handling.seconds * 1.1)).total >= total * (1 - 1e-9)
    assert cost_of(replace(handling, gets=handling.gets + 1)).total > total
    longer = replace(handling, batch_size=handling.batch_size * 2)
    assert cost_of(longer).total <= total * (1 + 1e-9)


def test_a_row_is_as_many_writes_as_priced() -> None:
    """A full row with a key of 200 characters is below 1 KB: a write, and one for the index."""
    moment = "2026-11-21T00:00:00.000Z"
    row = Row(
        bucket="b" * 63, key="k" * 200, entry="v" * 32, status=Status.HASHED, size_bytes=10**12,
        sequencer="0" * 18, arrived_at=moment, recorded_at=moment, etag="e" * 36, sha1="a" * 40,
        timing=Timing(123456.789, 1234.567),
        setup=ReadSetup(chunk_bytes=2**20, streams=1, memory_mb=10_240),
    )  # fmt: skip
    size = sum(len(name) + len(next(iter(value.values()))) for name, value in item_of(row).items())
    assert size <= 1024
    assert ROW_WRITE_UNITS[Purpose.RECORD] == 2


def test_the_alternatives_by_hand() -> None:
    """AWS's estimate by ten; 0.4 cents a GB; 9 cents a GB; 0.937 Gbit/s at 7.25 cents an hour."""
    rows = alternatives().rows
    usd = {row[0].split(",")[0].split(" c7g")[0]: row[1] for row in rows}
    assert usd["AWS's fixity solution"] == pytest.approx(3.004)
    assert usd["S3 Batch Operations"] == pytest.approx(4 + 0.25 + 0.001)
    assert usd["a laptop"] == pytest.approx(90 + 0.0004)
    assert usd["an EC2"] == pytest.approx(8e12 / 0.937e9 / 3600 * 0.0725 + 0.0004)


def term(usd: str) -> dict[str, Any]:
    """The terms of a product, with a second tier at half the price."""
    tiers = {"6000000000": float(usd) / 2, "0": float(usd)}
    dimensions = {
        first: {"beginRange": first, "pricePerUnit": {"USD": str(price)}}
        for first, price in tiers.items()
    }
    return {"TERM": {"priceDimensions": dimensions}}


def test_the_first_tier_of_each_region_is_printed() -> None:
    """Products of other groups are ignored, and an absent price is empty."""
    groups = {
        "arm": ("AWS-Lambda-Duration-ARM", "mx-central-1", "0.00002"),
        "x86": ("AWS-Lambda-Duration", "mx-central-1", "0.00003"),
        "edge": ("AWS-Lambda-Edge-Duration", "mx-central-1", "0.5"),
        "other": ("AWS-Lambda-Requests", "af-south-1", "0.0000003"),
    }
    table = table_of(
        {
            "products": {
                sku: {"attributes": {"group": group, "regionCode": region}}
                for sku, (group, region, _) in groups.items()
            },
            "terms": {"OnDemand": {sku: term(usd) for sku, (_, _, usd) in groups.items()}},
        }
    )
    assert table.rows == (
        ("af-south-1", None, None, 0.0000003),
        ("mx-central-1", 0.00002, 0.00003, None),
    )
