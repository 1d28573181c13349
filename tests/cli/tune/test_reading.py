"""`bucketsum tune list`, `show`, `compare` and `export`: what was measured, read back."""

import csv
import io
from dataclasses import replace
from pathlib import Path
from typing import Any

import boto3
import pytest
from tests.cli.conftest import Run
from tests.cli.deployed import HOSTILE, HOSTILE_SHOWN
from tests.cli.tune.conftest import TABLE, Record
from tests.cli.tune.sweeps import (
    HUNDRED_MB,
    MIB,
    a_cell,
    a_grid,
    a_run,
    a_sample,
    failed_samples,
    good_samples,
    seconds_in,
)
from tests.support.sweeps import changed

from bucketsum_lab.protocol.run_records import RunStatus
from bucketsum_lab.results.measurements_table import MeasurementsTable
from bucketsum_lab.results.record_values import sample_values

BRYSON_128_MB_10_MB = {
    100_000_000: ((5.18, 7.64), "15.6"),
    500_000_000: ((21.26, 24.96), "21.6"),
    1_000_000_000: ((43.32, 49.82), "21.5"),
    5_000_000_000: ((217.84, 240.16), "21.8"),
}
"""Bryson's (2021) rows of 128 MB memory and 10 MB chunks: seconds of both runs, average MB/s."""


def test_show_is_the_table_of_bryson(run: Run, record: Record) -> None:
    """The seconds of Bryson (2021) give its averages, under its headings, in its order."""
    cells = [a_cell(128, 10_000_000, size) for size in BRYSON_128_MB_10_MB]
    samples = [
        changed(a_sample(cell, number + 1, 1), seconds=BRYSON_128_MB_10_MB[size][0][number])
        for cell, size in zip(cells, BRYSON_128_MB_10_MB, strict=True)
        for number in (1, 0)  # as the table is ordered, whatever came first
    ]
    record(cells, samples, a_run(repetitions=2, few_samples=True))
    ended = run("tune", "show", "last").assert_done()
    lines = ended.out.splitlines()
    start = lines.index("128 MB Memory / 10 MB Chunk Size") + 1
    rows = [line.split() for line in lines[start : start + 4]]
    shown = [((float(row[4]), float(row[5])), row[6]) for row in rows]
    assert shown == list(BRYSON_128_MB_10_MB.values())
    assert [" ".join(row[:2]) for row in rows] == ["100.0 MB", "500.0 MB", "1.0 GB", "5.0 GB"]
    assert all("weak: 2 warm runs" in line for line in lines[start : start + 4])


def test_show_marks_cold_runs_failures_and_the_recommended_cell(run: Run, record: Record) -> None:
    """A cold run has a star, a failed one its cause, and what to deploy is named."""
    good, bad = a_cell(512, MIB), a_cell(128, 20_000_000)
    samples = [*good_samples(good, 6, cold=True), *failed_samples(bad, "Task timed out")]
    record([good, bad], samples)
    out = run("tune", "show", "last").out
    good_line = next(line for line in out.splitlines() if "recommended; fastest" in line)
    assert good_line.count("*") == 1
    assert "failed failed failed failed failed" in out
    assert "failed with Sandbox.Timedout: Task timed out" in out
    assert "deploy it: `bucketsum tune apply 20261121T041500-abcdef`" in out
    assert "local emulator" not in out


def test_a_failure_without_a_cause_says_so(run: Run, record: Record) -> None:
    """Step Functions reports a time-out of its own without a cause."""
    cell = a_cell(128, MIB)
    record([cell], failed_samples(cell, None))
    assert "failed with Sandbox.Timedout: no cause was reported" in run("tune", "show", "last").out


def test_invocations_at_once_stand_together(run: Run, record: Record) -> None:
    """A run of several invocations is one entry with all their seconds."""
    cell = a_cell(512, MIB, concurrency=3)
    record([cell], good_samples(cell, 5))
    line = next(row for row in run("tune", "show", "last").out.splitlines() if "3 at once" in row)
    assert line.count("/") == 10


@pytest.mark.parametrize("command", ["show", "compare"])
def test_local_numbers_are_never_shown_as_awss(run: Run, record: Record, command: str) -> None:
    """Every table with a local run has a note."""
    cell = a_cell(512, MIB)
    record([cell], good_samples(cell), a_run(label="local"))
    names = ["last", "last"] if command == "compare" else ["last"]
    assert "none of these numbers is AWS's" in run("tune", command, *names).out


def test_what_outsiders_named_is_shown_escaped(run: Run, record: Record) -> None:
    """Keys and causes cannot act on the terminal, nor be read as markup."""
    cell = a_cell(512, MIB, key=HOSTILE)
    record([cell], failed_samples(cell, HOSTILE), a_run(input={"keys": ["key"]}))
    out = run("tune", "show", "last").out
    assert HOSTILE_SHOWN in out
    assert "\x9b" not in out
    assert "\u202e" not in out


def test_show_as_json_is_all_that_is_recorded(run: Run, record: Record) -> None:
    """Statistics and samples come back as they were written, speeds to nine digits."""
    cells, samples = a_grid(memories=(512, 1024), chunks=(MIB,))
    ended = record(cells, samples)
    document = run("tune", "show", ended.run_id, "--json").document
    assert document["run"]["summary"]["recommendation"]["parameters"] == {
        "MemorySize": 512,
        "Streams": 1,
    }
    values = sample_values(samples[0])
    assert document["samples"][0] == values | {"mb_per_s": pytest.approx(values["mb_per_s"])}
    assert [cell["n"] for cell in document["cells"]] == [5, 5]  # the cold ones apart


def test_a_run_that_goes_on_is_shown_as_far_as_it_is(run: Run, record: Record) -> None:
    """Samples are there before statistics are."""
    cell = a_cell(512, MIB)
    record([cell], good_samples(cell, 2), a_run(status="RUNNING", ended_at=None))
    assert "still in progress" in run("tune", "show", "last").err


def test_list_is_by_time_the_newest_first(run: Run, record: Record) -> None:
    """Each run with how it ended, where, and what it recommends; no more than asked for."""
    cell = a_cell(512, MIB)
    for hour in ("04", "06", "05"):
        started = f"2026-11-21T{hour}:00:00.000Z"
        recorded = a_run(f"20261121T{hour}0000-aa", started_at=started, label="local")
        record([cell], good_samples(cell), recorded)
    lines = run("tune", "list", "--limit", 2).out.splitlines()[1:]
    assert [line.split()[0] for line in lines] == ["20261121T060000-aa", "20261121T050000-aa"]
    assert all("SUCCEEDED" in line and "local" in line for line in lines)
    assert all(line.rstrip().endswith("512 MB") for line in lines)
    document = run("tune", "list", "--json").document
    assert [run["run_id"][9:11] for run in document] == ["06", "05", "04"]


@pytest.mark.parametrize(
    "damage",
    ["SET #name = :weird", "REMOVE #name", "SET summary = :weird", "SET deployed = :empty"],
)
def test_a_damaged_run_is_shown_among_the_others(run: Run, record: Record, damage: str) -> None:
    """`tune list`, `show` and `status` name it with its reason, and exit with 1."""
    ids = ["20261121T041500-abcdef", "20261122T041500-abcdef"]
    for run_id in ids:
        record([], [], a_run(run_id, status=RunStatus.RUNNING))
    request: dict[str, Any] = {"ExpressionAttributeNames": {"#name": "status"}}
    if ":weird" in damage:
        request["ExpressionAttributeValues"] = {":weird": {"S": "weird"}}
    if ":empty" in damage:
        request["ExpressionAttributeValues"] = {":empty": {"S": "{}"}}
    if "#name" not in damage:
        del request["ExpressionAttributeNames"]
    boto3.client("dynamodb").update_item(
        TableName=TABLE,
        Key={"run_id": {"S": ids[0]}, "item": {"S": "run"}},
        UpdateExpression=damage,
        **request,
    )
    table = run("tune", "list")
    assert (table.status, "damaged" in table.out, ids[1] in table.out) == (1, True, True)
    listed = run("tune", "list", "--json").assert_no()
    states = {sweep["run_id"]: sweep["status"] for sweep in listed.document}
    assert states[ids[0]] == "damaged" != states[ids[1]]
    show = run("tune", "show", ids[0])
    assert (show.status, ids[0] in show.err, "defect" in show.err) == (1, True, False)
    assert run("tune", "show", ids[1]).status == 0


@pytest.mark.usefixtures("measurements")
def test_without_runs_list_says_how_to_start_one(run: Run) -> None:
    """An empty table is not an empty answer."""
    ended = run("tune", "list")
    assert (ended.status, ended.out) == (0, "")
    assert "bucketsum tune run" in ended.err


@pytest.mark.usefixtures("measurements")
@pytest.mark.parametrize("command", ["show", "export", "report", "apply"])
@pytest.mark.parametrize(("name", "advice"), [("last", "tune run"), ("none", "tune list")])
def test_a_run_that_is_not_there_is_an_error_with_what_to_do(
    run: Run, command: str, name: str, advice: str
) -> None:
    """Exit status 2, and where names are to be had."""
    run("tune", command, name).assert_refused(advice)


def test_compare_tells_real_changes_from_chance(run: Run, record: Record) -> None:
    """Twice the speed is different, the same again is not significant, one run is not a verdict."""
    steady, faster, alone = a_cell(512, MIB), a_cell(512, 10_000_000), a_cell(128, MIB)
    samples, others = good_samples(steady), good_samples(faster)
    half = [changed(sample, seconds=seconds_in(sample) / 2, billed_ms=100) for sample in others]
    before = a_run("20261121T040000-a", architecture="x86_64")
    record([steady, faster, alone], [*samples, *others, *good_samples(alone)], before)
    record([steady, faster], [*samples, *half], a_run("20261121T050000-b"))
    ended = run("tune", "compare", "20261121T040000-a", "20261121T050000-b")
    assert "they differ in architecture: x86_64 before, arm64 after" in ended.out
    verdicts = {
        tuple(line.split()[:4:2]): line.rstrip()
        for line in ended.out.splitlines()
        if line.split()[1:2] == ["MB"]
    }
    assert verdicts["512", "1"].endswith("not significant")
    assert verdicts["512", "10"].endswith("different")
    assert "+100.0 %" in verdicts["512", "10"]
    assert verdicts["128", "1"].endswith("not comparable")
    assert "no cell was measured in both runs" not in ended.out


def test_runs_without_a_common_cell_are_said_to_have_none(run: Run, record: Record) -> None:
    """A table of nothing but `not comparable` is not an answer."""
    for run_id, cell in (("20261121T040000-a", a_cell(512, MIB)), ("b", a_cell(128, MIB))):
        record([cell], good_samples(cell), a_run(run_id))
    out = run("tune", "compare", "20261121T040000-a", "b").out
    assert out.endswith(
        "no cell was measured in both runs: they have no setting with the same object\n"
    )


def test_csv_has_a_line_a_sample_and_no_formula(run: Run, record: Record) -> None:
    """A spreadsheet opens it without computing what an outsider named."""
    cell = a_cell(512, MIB, key="=HYPERLINK(1)")
    good, failed = good_samples(cell, 4), replace(failed_samples(cell, "-1+2", 1)[0], repetition=5)
    record([cell], [*good, failed], a_run(input={"keys": ["one"]}))
    lines = list(csv.DictReader(io.StringIO(run("tune", "export", "last", "--format", "csv").out)))
    assert [line["seconds"] for line in lines] == [
        *(str(seconds_in(sample)) for sample in good),
        "",
    ]
    assert {line["key"] for line in lines} == {"'=HYPERLINK(1)"}
    assert {line["cause"] for line in lines} == {"", "'-1+2"}
    assert {line["chunk_bytes"] for line in lines} == {str(MIB)}


def test_export_writes_what_show_prints_as_json(run: Run, record: Record, tmp_path: Path) -> None:
    """A file has the same document; one that cannot be written is an error."""
    cell = a_cell(512, MIB, HUNDRED_MB)
    record([cell], good_samples(cell, 5))
    file = tmp_path / "run.json"
    assert run("tune", "export", "last", "-o", file).status == 0
    assert file.read_text("utf-8") == run("tune", "show", "last", "--json").out
    run("tune", "export", "last", "-o", tmp_path / "no" / "run.json").assert_refused(
        "cannot be written"
    )


def test_the_average_is_of_the_mean_and_mb_per_s_of_the_median(run: Run, record: Record) -> None:
    """One slow run of five pulls the average down, as in Bryson (2021), and not the median."""
    cell = a_cell(512, MIB)
    seconds = [2.0, 2.0, 2.0, 2.0, 12.0]
    samples = [changed(a_sample(cell, at, 1), seconds=took) for at, took in enumerate(seconds, 1)]
    record([cell], samples)
    line = next(row for row in run("tune", "show", "last").out.splitlines() if "fastest" in row)
    assert line.split()[9:13] == ["25.0", "50.0", "1,800", "4.472"]


def test_objects_with_the_same_rounded_size_are_shown_in_bytes(run: Run, record: Record) -> None:
    """5.000 and 5.002 MB would both be 5.0 MB."""
    cells = [a_cell(512, MIB, size) for size in (5_000_000, 5_002_000)]
    record(cells, [sample for cell in cells for sample in good_samples(cell)])
    for shown in (run("tune", "show", "last"), run("tune", "compare", "last", "last")):
        assert "5,000,000 B" in shown.out
        assert "5,002,000 B" in shown.out


def test_a_recommendation_names_a_chunk_size_only_if_it_has_an_effect(
    run: Run, record: Record
) -> None:
    """With one stream or `auto`, other sizes apply; with several streams it is the part's size."""
    for streams, shown in ((1, "recommended: 512 MB, "), (4, "recommended: 512 MB / 1 MiB / 4 st")):
        cell = a_cell(512, MIB, streams=streams)
        record([cell], good_samples(cell), a_run(f"20261121T04150{streams}-a"))
        out = run("tune", "show", f"20261121T04150{streams}-a").out
        assert shown in out
        assert "no effect" not in out
        assert "of 1 setting\n" in out
    cells = [a_cell(512, size) for size in (MIB, 4 * MIB)]
    record(cells, [sample for cell in cells for sample in good_samples(cell)], a_run("b"))
    shown = run("tune", "show", "b").out
    assert "With 1 stream, the chunk size has no effect." in shown


def test_what_is_deployed_is_not_to_be_deployed(run: Run, record: Record) -> None:
    """The command that deploys is shown only for a change, and for numbers of AWS."""
    cell = a_cell(512, MIB)
    deployed = {"deployed": cell.setting.values}
    cases: list[dict[str, Any]] = [{}, deployed, {"label": "local"}, {"status": "STOPPED"}]
    for number, changes in enumerate(cases):
        run_id = f"2026112{number}T041500-a"
        record([cell], good_samples(cell), a_run(run_id, **changes))
        out = run("tune", "show", run_id).out
        assert "recommended: 512 MB" in out
        assert ("deploy it" in out) is (not changes)


def test_a_recommendation_names_the_noise_of_the_runs(run: Run, record: Record) -> None:
    """A setting that is not significantly faster than another is not presented as faster."""
    cells = [a_cell(512, size) for size in (MIB, MIB + 1)]
    record(cells, [sample for cell in cells for sample in good_samples(cell)])
    shown = run("tune", "show", "last").out
    assert "differs from that of 1 other setting by less than the noise of these runs" in shown


@pytest.mark.parametrize("workload", ["zip", ["hash"], {"a": 1}, None])
@pytest.mark.parametrize("arguments", [("show",), ("show", "--json"), ("export",)], ids=" ".join)
def test_a_run_of_an_unknown_workload_shows_why_it_failed(
    run: Run, measurements: MeasurementsTable, workload: object, arguments: tuple[str, ...]
) -> None:
    """The planner records an input that it refuses: no defect of bucketsum."""
    cause = "workload is of an unknown kind"
    measurements.record_run(
        a_run(status=RunStatus.FAILED, input={"workload": workload}, cause=cause)
    )
    command, *options = arguments
    ended = run("tune", command, "last", *options).assert_done()
    assert cause in ended.out + ended.err
