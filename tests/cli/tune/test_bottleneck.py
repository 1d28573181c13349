"""The bottleneck of a cell in `bucketsum tune show`, `compare`, the report and JSON."""

import json
from collections.abc import Callable
from dataclasses import replace

import pytest
from tests.cli.conftest import Run
from tests.cli.tune.conftest import Record
from tests.cli.tune.sweeps import MIB, a_cell, a_run, good_samples, results
from tests.support.sweeps import unzip_variant

from bucketsum_cli.tune.comparison import differences, pairs_of
from bucketsum_cli.tune.report.export import results_as_csv
from bucketsum_cli.tune.report.page import page_of
from bucketsum_cli.tune.report.table import groups_of
from bucketsum_lab.protocol.parameters import Setting
from bucketsum_lab.protocol.samples import DiskSpeed
from bucketsum_lab.protocol.use import Use, UseCurve

DISKS = ("/mnt/gp3", "/mnt/io2")
CELLS = [a_cell(memory_mb, MIB, 20_000_000) for memory_mb in (128, 1769)]
THROTTLED = UseCurve(2, 0.07, (Use(1.0, 0.05, 0.02, 0.07, throttled=0.9),) * 4)
BUSY = UseCurve(2, 1.0, (*[Use(1.0, 0.8, 0.1, 0.95, throttled=0.0)] * 3, Use(1.0, 0.1, 0.1, 0.1)))
SAMPLES = [
    replace(sample, use=curve)
    for cell, curve in zip(CELLS, (THROTTLED, BUSY), strict=True)
    for sample in good_samples(cell)
]


def test_show_names_the_bottleneck_of_each_cell(run: Run, record: Record) -> None:
    """The table has each cell's bottleneck with its share of time; JSON has the curves too."""
    record(CELLS, SAMPLES)
    text = run("tune", "show", "last").out
    assert "cpu share 100 %" in text
    assert "cpu 75 %" in text
    document = json.loads(run("tune", "show", "last", "--json").out)
    shown = [(cell["bottleneck"], cell["bottleneck_share"]) for cell in document["cells"]]
    assert shown == [("cpu share", 1.0), ("cpu", 0.75)]
    assert document["samples"][0]["use"]["throttled"] == [0.9] * 4


def test_compare_names_the_bottlenecks_of_both_runs(run: Run, record: Record) -> None:
    """A comparison has the bottleneck of each cell before and after."""
    name = record(CELLS, SAMPLES).run_id
    text = run("tune", "compare", name, name).out
    assert "bottleneck before" in text
    assert text.count("cpu share 100 %") == 2
    pair, _ = json.loads(run("tune", "compare", name, name, "--json").out)["cells"]
    assert pair["after"]["bottleneck"] == "cpu share"


def test_what_is_shown_of_a_run_fits_a_terminal_of_80_columns(
    run: Run, record: Record, terminal: Callable[[int], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A setting stands above its numbers, and the legend names only columns that are there."""
    name = record(CELLS, SAMPLES).run_id
    monkeypatch.setenv("NO_COLOR", "1")
    terminal(80)
    compared, shown = run("tune", "compare", name, name).out, run("tune", "show", name).out
    assert max(map(len, [*compared.splitlines(), *shown.splitlines()])) <= 80
    assert "\n128 MB, 1 MiB, 20.0 MB\n" in compared
    assert "not significant" in compared
    assert "average" not in shown


def test_a_run_without_curves_has_no_column_for_bottlenecks(run: Run, record: Record) -> None:
    """A run that recorded no use is shown as before."""
    name = record(CELLS, [replace(sample, use=None) for sample in SAMPLES]).run_id
    assert "bottleneck" not in run("tune", "show", name).out
    assert "bottleneck" not in run("tune", "compare", name, name).out


@pytest.mark.usefixtures("undrawn")
def test_the_speed_of_the_disk_is_shown(run: Run, record: Record) -> None:
    """Show, report, compare and JSON have the disk's speed, also if a warm-up measured it."""
    speed = DiskSpeed("/tmp", 120.0, 250.0, 3000.0, 16_000.0)  # noqa: S108 - a name
    samples = [replace(SAMPLES[0], repetition=0, disk=speed), *SAMPLES]
    text = "120 MB/s written, 250 MB/s read, 3,000 reads of 4 KiB per second, 16,000 with 16 at"
    name = record(CELLS, samples).run_id
    assert text in " ".join(run("tune", "show", name).out.split())
    assert (
        json.loads(run("tune", "show", name, "--json").out)["disks"][0]["disk_reads_per_s"] == 3000
    )
    assert text in page_of(results(CELLS, samples))
    slow = [replace(sample, disk=None) for sample in samples]
    assert [fact for fact, _ in results(CELLS, slow).disk_facts()] == []
    assert any(text in line for line in differences(results(CELLS, slow), results(CELLS, samples)))


@pytest.mark.usefixtures("undrawn")
def test_each_disk_has_its_speed_and_cells_of_its_own(run: Run, record: Record) -> None:
    """Disks are an axis: of the table, of a comparison, of the plots and of CSV."""
    setting = Setting(1769, MIB, 1, unzip_variant("tmp", "isal"))
    on_disks = [
        replace(CELLS[1], cell_id=disk, setting=replace(setting, disk=disk)) for disk in DISKS
    ]
    samples = [sample for cell in on_disks for sample in good_samples(cell)]
    speeds = [DiskSpeed(disk, speed) for disk, speed in zip(DISKS, (100.0, 900.0), strict=True)]
    samples += [
        replace(samples[0], cell_id=disk.disk_folder, repetition=0, disk=disk) for disk in speeds
    ]
    of_disks = a_run(input={"workload": "unzip", "object_bytes": [20_000_000]})
    shown = results(on_disks, samples, of_disks)
    assert dict(shown.disk_facts()) == {
        "speed of /mnt/gp3": "100 MB/s written", "speed of /mnt/io2": "900 MB/s written",
    }  # fmt: skip
    assert all(f"disk {disk}" in heading for disk, (heading, _) in zip(
        DISKS, groups_of(shown), strict=True))  # fmt: skip
    page = page_of(shown)
    assert "speed of /mnt/io2" in page
    assert "disk" in page.partition('id="p0-heat"')[2].partition("</h3>")[0]
    assert results_as_csv(shown).count("/mnt/gp3") >= 5
    plain = [replace(CELLS[1], setting=setting)]
    alone = results(plain, good_samples(plain[0]), of_disks)
    pairs = pairs_of(alone, shown)
    assert [(pair.disk, pair.before is not None) for pair in pairs] == [
        (disk, True) for disk in DISKS
    ]
    name = record(on_disks, samples).run_id
    assert "disk /mnt/io2" in run("tune", "show", name).out
    text = run("tune", "compare", name, name).out
    assert all(text.count(disk) == 1 for disk in DISKS)


def test_a_disk_that_is_not_measured_has_a_reason() -> None:
    """The reason is shown in place of the speed."""
    unknown = DiskSpeed("/tmp", disk_unmeasured="it has no O_DIRECT")  # noqa: S108 - a name
    shown = results(CELLS, [replace(SAMPLES[0], disk=unknown)])
    assert dict(shown.disk_facts()) == {"disk speed": "not measured: it has no O_DIRECT"}
