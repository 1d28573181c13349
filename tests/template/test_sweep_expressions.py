"""JSONata in the sweep's state machine says the same as the library in Python."""

import json
from typing import Any, Final

import jsonata
import pytest
from tests.template.state_machines import load_definition, states

from bucketsum.table.codec import plain_values
from bucketsum_lab.protocol.run_records import run_id_of
from bucketsum_lab.protocol.samples import SampleFailure, SampleStatus
from bucketsum_lab.results.record_values import sample_of, sample_values
from bucketsum_lab.results.run_store import sample_item

MACHINE: Final = load_definition()
STATES: Final = {state.name: state.body for state in states(MACHINE)}
TOLD: Final[dict[str, Any]] = {
    "status": "ok", "size_bytes": 100_000_000, "seconds": 1.234567, "mb_per_s": 81.000059,
    "cpu_seconds": 0.5, "max_rss_bytes": 58_331_136, "rss_of": "reading", "cold": False,
    "billed_ms": 1250, "digest_ok": True, "sha1": "0" * 40, "memory_mb": 512, "version": "3",
}  # fmt: skip


def evaluated(text: str, states_value: dict[str, Any], **variables: object) -> Any:  # noqa: ANN401 - JSON
    """The value that Step Functions makes of ``{% ... %}``."""
    assert text.startswith("{%")
    assert text.endswith("%}")
    expression = jsonata.Jsonata.jsonata(text[2:-2])
    return expression.evaluate(None, {"states": states_value, **variables})


@pytest.mark.parametrize(
    "name", ["3f2a", "20261121T041500-abcdef", "2026-11-21", "20261121T0415-short", "x" * 80]
)
def test_a_run_is_named_alike(name: str) -> None:
    """State machine, functions and command derive the same run from an execution."""
    started_at = "2026-11-21T04:15:00.123Z"
    context = {"context": {"Execution": {"Name": name, "StartTime": started_at}}}
    run_id = evaluated(STATES["NameRun"]["Assign"]["run_id"], context)
    assert run_id == run_id_of(name, started_at)


def recorded(sample: dict[str, Any], run: int = 7, invocation: int = 40) -> dict[str, Any]:
    """The item that the state machine writes."""
    probe = {"cell": {"cell_id": "m00512"}, "run": run, "invocation": invocation}
    states_value = {
        "input": {"probe": probe, "sample": sample},
        "context": {"State": {"EnteredTime": "2026-11-21T04:15:00.123Z"}},
    }
    item: dict[str, Any] = evaluated(
        STATES["RecordSample"]["Arguments"]["Item"], states_value, run_id="20261121T041500-a"
    )
    return item


def test_a_sample_is_written_as_the_library_reads_it() -> None:
    """Every number, text and truth value of the prober's answer comes back."""
    item = recorded(TOLD)
    assert item["run_id"] == {"S": "20261121T041500-a"}
    assert item["item"] == {"S": sample_item("m00512", 7, 40)}
    sample = sample_of(plain_values(item))
    assert (sample.cell_id, sample.repetition, sample.invocation) == ("m00512", 7, 40)
    assert (sample.at, sample.status) == ("2026-11-21T04:15:00.123Z", SampleStatus.OK)
    values = sample_values(sample)
    assert {name: values[name] for name in TOLD} == TOLD


def test_a_failure_is_written_as_the_library_reads_it() -> None:
    """The cause may hold anything."""
    failed = {"status": "failed", "error": "Sandbox.Timedout", "cause": 'a "quoted"\n{cause} ü'}
    sample = sample_of(plain_values(recorded(failed, run=0, invocation=1)))
    assert sample.status is SampleStatus.FAILED
    assert sample.failure == SampleFailure(failed["error"], failed["cause"])
    assert (sample.repetition, sample.invocation) == (0, 1)


def test_a_cause_that_is_absent_is_empty() -> None:
    """Step Functions fails a state whose expression is undefined."""
    [catch] = STATES["Probe"]["Catch"]
    cause = evaluated(catch["Output"]["sample"]["cause"], {"errorOutput": {"Error": "X"}})
    assert cause == ""


@pytest.mark.parametrize("concurrency", [1, 2, 40])
def test_as_many_invocations_as_asked_for(concurrency: int) -> None:
    """One of them is a list of one, not the number 1."""
    value = {"input": {"cell": {"concurrency": concurrency}}}
    items = evaluated(STATES["ProbeAtOnce"]["Items"], value)
    assert json.loads(json.dumps(items)) == list(range(1, concurrency + 1))
