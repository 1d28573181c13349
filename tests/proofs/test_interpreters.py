"""Two interpreters, LocalStack's and the local emulator's, run both state machines alike."""

import json
import os
import re
import subprocess
import sys
from dataclasses import dataclass, field
from typing import Any, Final

import pytest
import yaml
from tests.proofs.expanded import ROOT, TOOLS

from bucketsum_lab.plan.input import SweepInput
from bucketsum_lab.plan.plan import plan_of
from bucketsum_lab.protocol.parameters import Setting

INTERPRETERS: Final = {
    "LocalStack": (f"{TOOLS}/bin/python", "-m", "tests.proofs.on_localstack", f"{TOOLS}/java"),
    "ministack": (sys.executable, "-m", "tests.proofs.on_ministack"),
}
TWO_CELLS: Final = SweepInput(
    (Setting(512, 65_536), Setting(1024, 65_536)),
    object_bytes=(1000,), concurrency=(1, 2), repetitions=1, warm_up=False,
)  # fmt: skip

Entry = tuple[str, dict[str, Any], Any]
"""A function, a part of its event, its answer."""


@dataclass(frozen=True, slots=True)
class Case:
    """An execution: every call of a function, and how it ends.

    Attributes:
        rows: Status of each sample that it records, by the end of its name.
    """

    machine: str
    script: list[Entry]
    status: str
    output: Any = None
    error: str | None = None
    cause: str | None = None
    rows: dict[str, str] = field(default_factory=dict)


def failed(kind: str) -> dict[str, str]:
    """A function's error as Lambda answers it."""
    return {"errorType": kind, "errorMessage": 'a "reason"'}


def cause(kind: str) -> str:
    """The cause that Step Functions makes of it."""
    return json.dumps(failed(kind), separators=(",", ":"))


def listing(*parts: int, pause: int = 0) -> dict[str, Any]:
    """The enqueuer's event; its answer, if these parts are left."""
    return {"action": "enqueue", "backfill_id": "b", "parts": list(parts), "pause": pause}


def step(*events: dict[str, Any], failed: bool = False) -> Entry:
    """A step of the run; the events that come next."""
    return backfill(STEP, {"failed": failed, "events": list(events)})


def backfill(event: dict[str, Any], answer: object) -> Entry:
    """A call of the enqueuer."""
    return "EnqueuerFunctionArn", {"backfill_id": "b"} | event, answer


PLAN: Final = {"action": "plan"}
STEP: Final = {"action": "step"}
SHARES: Final = [
    step(listing(0, 1), listing(2)),
    backfill(listing(0, 1), listing(1, pause=1)),
    backfill(listing(1, pause=1), listing(1)),
    backfill(listing(1), listing()),
]
GIVEN_UP: Final = [
    backfill({"action": "give_up", "error": "BadInventory", "cause": cause("BadInventory")}, "b"),
    step(failed=True),
]
NOT_ALL: Final = ("FAILED", None, "BackfillFailed")

BAD: Final = failed("BadSweep")
SAMPLE: Final = {"status": "ok", "size_bytes": 10**11, "seconds": 1.234567, "cold": False}
OBJECT: Final = {"key": "objects/1", "size_bytes": 10**11, "sha1": "0" * 40, "contents": None}
PROBE: Final = OBJECT | {"bucket": "sweeps", "workload": "hash"}
STEPS: Final[list[Entry]] = [
    ("PlannerFunctionArn", PLAN, plan_of(TWO_CELLS).to_json() | {"bucket": "sweeps"}),
    ("PlannerFunctionArn", {"action": "object", "generated": True, "workload": "hash"}, OBJECT),
    ("PublisherFunctionArn", {"memory_mb": 512}, {"published": True, "version": "7"}),
    ("PublisherFunctionArn", {"memory_mb": 1024}, {"published": False}),
    ("ProberFunctionArn:7", PROBE | {"concurrency": 1}, SAMPLE),
    ("ProberFunctionArn:7", PROBE | {"concurrency": 2}, failed("Sandbox.Timedout")),
    ("ProberFunctionArn:7", PROBE | {"concurrency": 2}, failed("Sandbox.Timedout")),
]
RECORDED: Final = {
    "k01-o000000001000#0001#0001": "ok",
    "k02-o000000001000#0001#0001": "failed",
    "k02-o000000001000#0001#0002": "failed",
}
CLEANED: Final = {"deleted": ["7"], "left": []}


def end(answer: object, cleaned: object, failure: dict[str, str], status: str) -> list[Entry]:
    """The last calls of a sweep: the clean-up, and the analyst."""
    analyst = {"clean_up": cleaned, "failure": failure}
    return [
        ("PublisherFunctionArn", {"action": "clean_up"}, answer),
        ("AnalystFunctionArn", analyst, {"status": status}),
    ]


BROKEN: Final = end(CLEANED, CLEANED, {"error": "BadSweep", "cause": cause("BadSweep")}, "FAILED")
NOT_CLEANED: Final = {
    "deleted": [],
    "left": [f"clean-up itself failed: BadSweep: {cause('BadSweep')}"],
}
SWEEP_FAILED: Final = ("FAILED", None, "SweepFailed", '{"status":"FAILED"}')

CASES: Final = {
    "a backfill of two children": Case(
        "backfill",
        [
            backfill(STEP, failed("Lambda.TooManyRequestsException")),
            *SHARES, backfill(listing(2), listing()), step(),
        ],
        "SUCCEEDED", [],
    ),
    "a backfill that cannot be planned": Case(
        "backfill", [backfill(STEP, failed("BadInventory")), *GIVEN_UP], *NOT_ALL,
    ),
    "a sweep with samples that fail": Case(
        "sweep", [*STEPS, *end(CLEANED, CLEANED, {}, "PARTIAL")],
        "SUCCEEDED", {"status": "PARTIAL"}, rows=RECORDED,
    ),
    "a clean-up that fails": Case(
        "sweep", [*STEPS, *end(BAD, NOT_CLEANED, {}, "OK")],
        "SUCCEEDED", {"status": "OK"}, rows=RECORDED,
    ),
    "no object": Case("sweep", [STEPS[0], (*STEPS[1][:2], BAD), *BROKEN], *SWEEP_FAILED),
    "no version": Case("sweep", [*STEPS[:3], (*STEPS[3][:2], BAD), *BROKEN], *SWEEP_FAILED),
    "no plan": Case(
        "sweep", [(*STEPS[0][:2], BAD)], "FAILED", None, "BadSweep", cause("BadSweep"),
    ),
}  # fmt: skip
A_FAILED_PART: Final = Case(
    "backfill",
    [
        *SHARES, backfill(listing(2), failed("BadInventory")),
        backfill({"action": "give_up", "error": "States.ExceedToleratedFailureThreshold"}, "b"),
        step(failed=True),
    ],
    *NOT_ALL,
)  # fmt: skip

FAULTS: Final = [
    ("a backfill of two children", "input.parts) > 0", "input.parts) > 1"),
    ("a backfill of two children", '"Items": "{% $states.input %}"', '"Items": []'),
    ("a backfill that cannot be planned", ', "BadInventory"]', "]"),
    ("a backfill that cannot be planned", '"Next": "GiveUp"', '"Next": "Failed"'),
    ("a backfill that cannot be planned", "{% $has_failed %}", "{% false %}"),
    ("a sweep with samples that fail", "Map.Item.Value[1]", "Map.Item.Value[0]"),
    ("a sweep with samples that fail", "$states.input.published.published", "true"),
    ("no version", '"Next": "CleanUp"', '"Next": "SumUp"'),
]
"""A case, a text of its definition, a fault in place of it."""

RUNS: Final = [
    *((case, "", "") for case in (*CASES.values(), A_FAILED_PART)),
    *((CASES[name], text, fault) for name, text, fault in FAULTS),
]


def definition(machine: str, text: str, fault: str) -> str:
    """The definition with names in place of ARNs, and with a fault."""
    source = yaml.safe_load((ROOT / "statemachines" / f"{machine}.asl.yaml").read_text())
    named = re.sub(r"\$\{(\w+)}", r"\1", json.dumps(source).replace("${Partition}", "aws"))
    assert text in named
    return named.replace(text, fault) if text else named


@pytest.fixture(scope="module")
def ended() -> dict[str, list[dict[str, Any]]]:
    """The end of each of the runs, by interpreter."""
    given = {"backfill": {"backfill_id": "b"}, "sweep": {"memory_mb": [512, 1024]}}
    executions = json.dumps(
        [(case.machine, definition(case.machine, text, fault), given[case.machine], case.script)
         for case, text, fault in RUNS]
    )  # fmt: skip
    environment = os.environ | {"SFN_WAIT_SCALE": "0"}  # ministack then waits for no retry
    outputs = {
        name: subprocess.check_output(
            command, input=executions, text=True, cwd=ROOT, env=environment
        )
        for name, command in INTERPRETERS.items()
    }
    return {name: json.loads(output.splitlines()[-1]) for name, output in outputs.items()}


def wrong(case: Case, end: dict[str, Any]) -> dict[str, Any]:
    """Results of an execution that differ from its case."""
    output = json.loads(end["output"]) if end["status"] == "SUCCEEDED" else None
    samples = [entry["Item"] for entry in end["items"] if "Item" in entry]
    names = ["k" + item["item"]["S"].rpartition("-k")[2] for item in samples]
    rows = {name: item["status"]["S"] for name, item in zip(names, samples, strict=True)}
    did = end | {"output": output, "rows": rows}
    right: dict[str, Any] = {"left": [], "unexpected": [], "rows": case.rows, "status": case.status}
    right |= {"output": case.output, "error": case.error}
    right |= {"cause": case.cause} if case.cause else {}
    return {name: did[name] for name in right if did[name] != right[name]}


@pytest.mark.parametrize("interpreter", INTERPRETERS)
@pytest.mark.parametrize("name", CASES)
def test_an_execution_ends_as_it_must(
    name: str, interpreter: str, ended: dict[str, list[dict[str, Any]]]
) -> None:
    """Every call is made, no other, and the clean-up follows whatever fails."""
    assert wrong(CASES[name], ended[interpreter][[*CASES].index(name)]) == {}


def test_interpreters_write_the_same_items(ended: dict[str, list[dict[str, Any]]]) -> None:
    """Each value of each sample, and the row of a sweep without a plan."""
    written = {name: [end["items"] for end in ends[: len(CASES)]] for name, ends in ended.items()}
    assert written["LocalStack"] == written["ministack"]
    assert sum(map(len, written["ministack"])) == 2 * len(RECORDED) + 1


def test_a_failed_part_fails_its_child_once(ended: dict[str, list[dict[str, Any]]]) -> None:
    """It is not repeated, and the bucket is given up. LocalStack tolerates any failed child."""
    ends = {name: results[len(CASES)] for name, results in ended.items()}
    assert {end["failed_children"] for end in ends.values()} == {1}
    assert wrong(A_FAILED_PART, ends["ministack"]) == {}
    [left] = ends["LocalStack"]["left"]
    assert left[1]["action"] == "give_up"


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: str(fault[2]))
def test_a_planted_fault_is_found(
    fault: tuple[str, str, str], ended: dict[str, list[dict[str, Any]]]
) -> None:
    """A condition, an item, an error or a next state that is wrong ends otherwise."""
    end = ended["LocalStack"][len(CASES) + 1 + FAULTS.index(fault)]
    assert wrong(CASES[fault[0]], end)
