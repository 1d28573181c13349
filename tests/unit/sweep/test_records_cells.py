"""The workload records in a plan: its axes, refusals, data set and statistics."""

from functools import partial
from typing import Any, Final

import pytest
from tests.support.sweeps import plan_with

from bucketsum.table.stored_fields import names_of
from bucketsum_lab.errors import BadSweep
from bucketsum_lab.plan.input import SweepInput
from bucketsum_lab.plan.plan import plan_of
from bucketsum_lab.protocol.samples import Sample, SampleStatus
from bucketsum_lab.workloads import statistics_of
from bucketsum_lab.workloads.records.data_set import DataSet, verify
from bucketsum_lab.workloads.records.layouts import SAMPLED_RECORDS, RecordLayout
from bucketsum_lab.workloads.records.workload import (
    DEFAULT_SIZE_BYTES,
    RecordsStatistics,
    RecordsWorkload,
)

RECORDS = RecordsWorkload()
LEAST: dict[str, Any] = {"workload": "records", "object_bytes": [1_000_000], "memory_mb": [1769]}
planned = partial(plan_with, LEAST)


def test_parameters_without_effect_make_no_cells() -> None:
    """Block sizes, gaps and connections multiply only the layouts that they matter to."""
    plan = planned(
        layout=[
            "range", "coalesced", "whole", "object-per-record", "partitioned",
            "partitioned-range", "tmp-block", "sqlite-tmp",
        ],
        connections=[1, 16],
        block_bytes=[512, 4_096, 65_536],
        gap_bytes=["measured", 0],
        objects=[1, 10],
    )  # fmt: skip
    cells = [cell.setting.own["layout"] for cell in plan.cells]
    counts = {layout: cells.count(layout) for layout in cells}
    assert counts == {
        "range": 6, "coalesced": 4, "whole": 1, "object-per-record": 2, "partitioned": 4,
        "partitioned-range": 4, "tmp-block": 3, "sqlite-tmp": 1,
    }  # fmt: skip
    assert len({cell.cell_id for cell in plan.cells}) == len(plan.cells)
    assert not [cell.refused for cell in plan.cells if cell.refused]


def test_the_default_is_fernandez_and_turner() -> None:
    """2.48 million records; only the memory has to be chosen."""
    [cell] = plan_of(SweepInput.from_json({"workload": "records", "memory_mb": [1769]})).cells
    assert cell.object.size_bytes == DEFAULT_SIZE_BYTES
    assert cell.setting.own == {
        "layout": "range", "reads": 1_000, "connections": 16, "block_bytes": 4_096,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("storage_mb", "change", "refusal"),
    [
        (512, {"reads": [20_000]}, "reads is 20000; a data set of 1000000 bytes has 10310 records"),
        (
            512,
            {"layout": ["partitioned"], "objects": [100_000]},
            "objects is 100000; a data set of 1000000 bytes has 10310 records",
        ),
        (
            512,
            {
                "layout": ["partitioned"],
                "object_bytes": [400_000_000],
                "objects": [1],
                "memory_mb": [512],
            },
            "layout is partitioned; it needs some",
        ),
        (
            512,
            {"layout": ["tmp-block"], "block_bytes": [4_097]},
            "block_bytes is 4097; the block size of a block file is a multiple of 128",
        ),
        (
            512,
            {"layout": ["sqlite-tmp"], "object_bytes": [450_000_000]},
            "needs 623 MB of /tmp, the prober has 512: deploy with EphemeralStorageSize=623",
        ),
        (
            2_048,
            {"layout": ["tmp-block"], "object_bytes": [240_560_000], "memory_mb": [512]},
            "it needs some 678 MB of memory, there are 512",
        ),
        (
            512,
            {"layout": ["whole"], "object_bytes": [400_000_000], "memory_mb": [256]},
            "layout is whole; it needs some",
        ),
    ],
)
def test_a_cell_that_cannot_run_says_why(
    storage_mb: int, change: dict[str, Any], refusal: str
) -> None:
    """The other cells of the sweep are measured."""
    [cell] = planned(storage_mb, **change).cells
    assert refusal in (cell.refused or "")


def test_disk_is_paid_for_by_the_layouts_that_use_it() -> None:
    """The others cost the same with any /tmp."""
    for cell in planned(10_240, layout=["range", "tmp-block", "sqlite-tmp"]).cells:
        on_disk = cell.setting.own["layout"] in ("tmp-block", "sqlite-tmp")
        assert cell.storage_mb == (10_240 if on_disk else 512)


def test_a_data_set_has_an_index_and_a_sample_of_objects() -> None:
    """Their sizes are as declared, and each sampled record is whole."""
    index, *records = RECORDS.files(200_000)
    assert index.name == "index"
    assert len(b"".join(index.chunks())) == index.size_bytes
    records = [file for file in records if file.name.startswith("record/")]
    assert len(records) == SAMPLED_RECORDS
    for file in records[:5]:
        [content] = file.chunks()
        verify(content, int(file.name.rpartition("/")[2]))
    generated = RECORDS.generate(200_000)
    assert sum(map(len, generated.chunks())) == 200_000
    assert generated.metadata == {"records": str(DataSet(200_000).records)}


@pytest.mark.parametrize(
    ("fields", "parts"),
    [
        ({"layout": ["tmp-block", "sqlite-tmp"]}, []),
        ({"layout": ["whole", "tmp-block"]}, ["index"]),
        ({"layout": ["object-per-record"]}, ["record"]),
        ({"layout": ["dynamodb", "range"]}, ["index", "items"]),
        (
            {"layout": ["partitioned", "whole"], "objects": [1, 10, 1_000]},
            ["index", "partition/10", "partition/1000"],
        ),
    ],
)  # fmt: skip
def test_only_what_the_settings_read_is_generated(fields: dict[str, Any], parts: list[str]) -> None:
    """A sweep without partitions builds none: each part is read by a layout of the sweep."""
    [planned_object] = planned(512, **fields).objects
    assert planned_object.parts == tuple(parts)
    files = RECORDS.files_of(planned_object.size_bytes, planned_object.parts)
    assert list(dict.fromkeys(file.part for file in files)) == [
        part for part in parts if part != "items"
    ]


@pytest.mark.parametrize("text", ["", "many", "0", "-1"])
def test_an_object_of_ones_own_is_refused(text: str) -> None:
    """Its records could not be verified."""
    with pytest.raises(BadSweep, match="give object_bytes instead of keys"):
        RECORDS.contents("mine.txt", {"records": text} if text else {})


OTHERS: Final[dict[str, Any]] = {
    **dict.fromkeys(names_of(RecordsStatistics), 1), "database_server": "MongoDB 8.0.4",
}  # fmt: skip


def test_statistics_are_medians() -> None:
    """Of each number that the samples have."""
    samples = [
        Sample("cell", number, 1, SampleStatus.OK, "", own={
            **OTHERS, "fetch_seconds": seconds, "record_time": "each", "requests": 7,
        })
        for number, seconds in enumerate([0.5, 0.1, 0.3], start=1)
    ]  # fmt: skip
    assert RECORDS.statistics(samples) == RecordsStatistics(
        **OTHERS | {"fetch_seconds": 0.3, "record_time": "each", "requests": 7}
    )


def test_each_layout_has_an_estimate() -> None:
    """More reads never take less time."""
    for layout in set(RecordLayout):
        few, many = (
            planned(reads=[reads], layout=[layout], object_bytes=[24_000_000]).cells[0].seconds
            for reads in (1, 100_000)
        )
        assert 0 < few <= many


def test_a_row_says_whose_statistics_these_are() -> None:
    """Other workloads may have parameters and statistics of the same names."""
    [cell] = planned(10_240, layout=["tmp-block"], page_cache=["cold"]).cells
    values = {**OTHERS, "record_time": "each", "workload": cell.row.workload}
    assert isinstance(statistics_of(values), RecordsStatistics)
