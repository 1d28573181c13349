"""cost: measurements in, tables out, and docs/cost.md has what the shipped example gives."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from bench.cost.command import DOCUMENT, MEASURED, cost, written
from bench.cost.measured import ColdStart, Measured, Small, Speed, measured_in
from bench.cost.model import Handling, cost_of
from bench.cost.tables import (
    per_tb,
    small_objects,
)
from bench.readers.registry import AS_DEPLOYED
from click.testing import CliRunner
from tests.support.documents import Document
from tests.support.sam_template import load_template

from bucketsum_cli.errors import CannotDoError

if TYPE_CHECKING:
    from pathlib import Path


def readers(*summaries: tuple[str, float | None], **profile: int) -> dict[str, Any]:
    """What `bench readers` writes of one shape."""
    shape = {"memory_mb": 512, "link_mbit_per_s": 625, "object_bytes": 10**9, "burst_bytes": 0}
    return {
        "date": "2026-11-21",
        "machine": "EPYC",
        "profiles": [
            {
                "profile": shape | profile,
                "summaries": [
                    {"reader": name, "mb_per_s": {"median": speed} if speed else None}
                    for name, speed in summaries
                ],
            }
        ],
    }


def function(**objects_per_s: float) -> dict[str, Any]:
    """What `bench function` writes of batches (``batches_of_10``) at 512 MB."""
    variants = [
        {"variant": f"hasher, {name.replace('_', ' ')}", "objects_per_s": speed}
        for name, speed in objects_per_s.items()
    ]
    others = [
        {"variant": "baseline, batches of 10", "objects_per_s": 1.0},
        {"variant": "hasher, batches of 10, threads 8", "objects_per_s": 2.0},
    ]
    return {"machine": "Linux", "shapes": [{"memory_mb": 512, "variants": variants + others}]}


def read(tmp_path: Path, *documents: object) -> Measured:
    """These documents as files, read."""
    files = []
    for number, document in enumerate(documents):
        file = tmp_path / f"{number}.json"
        file.write_text(json.dumps(document))
        files.append(file)
    return measured_in(files)


def test_the_fastest_of_ours_counts(tmp_path: Path) -> None:
    """In each configuration: bucketsum's fastest reader, and the baseline."""
    document = readers(
        ("baseline, 20 MB chunks", 60),
        ("bucketsum, one", 70),
        ("bucketsum, two", 71),
        ("s5cmd", 99),
    )
    measured = read(tmp_path, document)
    assert [speed.reader for speed in measured.ours()] == ["bucketsum, two"]
    assert [row[3] for row in per_tb(measured).rows] == ["bucketsum, two", "baseline, 20 MB chunks"]


def test_ours_as_deployed_counts_first(tmp_path: Path) -> None:
    """The deployed reader is priced, even if another one of bucketsum's was faster."""
    measured = read(tmp_path, readers((AS_DEPLOYED, 60), ("bucketsum, one", 70)))
    assert [speed.reader for speed in measured.ours()] == [AS_DEPLOYED]


def test_without_ours_the_fastest_of_the_others_counts(tmp_path: Path) -> None:
    """Prototypes can be priced too; the baseline is never taken for bucketsum's reader."""
    measured = read(tmp_path, readers(("baseline, 20 MB chunks", 99), ("a", 60), ("b", 70)))
    assert [speed.reader for speed in measured.ours()] == ["b"]


def test_a_reader_can_be_chosen(tmp_path: Path) -> None:
    """By part of its name; an unknown name is refused with the known names."""
    measured = read(tmp_path, readers(("baseline, 20 MB chunks", 9), ("aws s3 cp", 60), ("b", 70)))
    rows = per_tb(measured.only("s3")).rows
    assert [row[3] for row in rows] == ["aws s3 cp", "baseline, 20 MB chunks"]
    with pytest.raises(CannotDoError, match="'nobody'; measured are 'baseline, 20 MB chunks'"):
        measured.only("nobody")


def test_ranges_are_paid_for(tmp_path: Path) -> None:
    """A reader that uses ranges makes a request per 8 MiB; the deployed one follows its rule."""
    document = readers(("ordered ranges", 70), ("one stream", 60), (AS_DEPLOYED, 50))
    document["profiles"][0]["profile"]["memory_mb"] = 3008
    measured = read(tmp_path, document)
    gets = {speed.reader: speed.gets for speed in measured.speeds}
    assert gets == {"ordered ranges": 120, "one stream": 1, AS_DEPLOYED: 60}
    row = per_tb(measured).as_json()[0]
    assert row["reader"] == AS_DEPLOYED
    one_get = cost_of(Handling(512, "arm64", 10**9, 1)).requests
    assert row["requests_usd_per_tb"] == pytest.approx(1000 * (one_get + 59 * 0.0004e-3))


def test_a_terabyte_by_hand(tmp_path: Path) -> None:
    """1 GB at 100 MB/s and 1,024 MB on arm64: 10,000 s a terabyte, 13.3 cents and the requests."""
    (row,) = per_tb(read(tmp_path, readers(("b", 100), memory_mb=1024))).rows
    assert row[5] == pytest.approx(10_000 * 0.0000133334 + row[7])
    assert row[7] == pytest.approx(1000 * 4.2675e-6, rel=1e-3)


def test_files_of_all_kinds_come_together(tmp_path: Path) -> None:
    """Speeds, cold starts and small objects are text apart by what they hold."""
    measured = read(
        tmp_path,
        readers(("b", 70)),
        {"machine": "Linux", "starts": [{"name": "hasher", "wall_ms": 200, "cpu_ms": 190}]},
        function(batches_of_10=50.0),
    )
    assert measured.speeds == (Speed(512, 625, False, 10**9, "b", 70),)
    assert measured.cold_starts == (ColdStart("hasher", 0.2),)
    assert measured.smalls == (Small(512, 1_562_048, 10, 0.02),)
    assert measured.origins == (
        "not AWS: measured on one machine, EPYC, 2026-11-21",
        "not AWS: measured on one machine, Linux",
        "not AWS: measured on one machine, Linux",
    )


def test_measurements_replace_assumptions(tmp_path: Path) -> None:
    """Each row says which of them it is."""
    measured = read(tmp_path, readers(("b", 70)), function(batches_of_10=2.0))
    rows = {(row[0], row[2]): (row[3], row[4]) for row in small_objects(measured).rows}
    assert rows[1_562_048, 10] == (500, "measured")
    assert rows[10_000, 1] == (pytest.approx(50, rel=0.01), "assumed")


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ("no json", "cannot be read as JSON"),
        ("[]", "none of `profiles`, `shapes` and `starts`"),
        ('{"results": []}', "none of `profiles`, `shapes` and `starts`"),
        ('{"profiles": [{}]}', "is not as expected: KeyError"),
        ('{"shapes": [1]}', "is not as expected: TypeError"),
    ],
)
def test_other_files_are_refused(tmp_path: Path, content: str, text: str) -> None:
    """With what is missing and how to get it; the exit status is 2."""
    file = tmp_path / "file.json"
    file.write_text(content)
    done = CliRunner().invoke(cost, ["--measured", str(file)])
    assert done.exit_code == 2
    assert text in " ".join(done.output.split())


def test_the_document_has_the_tables_of_what_was_measured() -> None:
    """docs/cost.md is what the command writes from the measurements that ship with it."""
    text = DOCUMENT.read_text("utf-8")
    assert written(text, measured_in(MEASURED)) == text


def test_the_json_has_every_table() -> None:
    """The same numbers for a machine, with their origin and the prices' date."""
    done = CliRunner().invoke(cost, ["--json"], catch_exceptions=False)
    document = json.loads(done.output)
    assert document["cost-tb"][0]["usd_per_tb_arm64"] > 0
    assert all("not AWS" in origin for origin in document["origins"])
    assert {"origins", "prices", "cost-baseline", "cost-small", "cost-alternatives"} <= set(
        document
    )


def test_the_defaults_explained_are_the_templates() -> None:
    """Each default that docs/cost.md gives a reason for is the template's."""
    parameters = load_template()["Parameters"]
    for name, default, why in Document.read(DOCUMENT).table("parameter"):
        assert default.strip("`") == str(parameters[name.strip("`")]["Default"]), name
        assert why
