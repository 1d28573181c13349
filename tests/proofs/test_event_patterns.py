"""EventBridge's own matcher sends the rules the events that they are for, and no others."""

import json
import subprocess
from typing import Any, Final

import pytest
from tests.proofs.expanded import ACCOUNT, REGION, ROOT, TOOLS, Deployed, attached, planted

from bucketsum_cli.buckets.attachments import access_template

BUCKET: Final = "bucketsum-example"
CREATED: Final = "Object Created"
LATER: Final = ("Object Deleted", "Object Restore Completed")
OTHERS: Final = ("Object Tags Added", "Object Restore Initiated", "Object Storage Class Changed")
EVERY: Final = (CREATED, *LATER, *OTHERS)
BROKEN_OFF: Final = ("ABORTED", "TIMED_OUT", "FAILED")
NOT_BROKEN_OFF: Final = ("RUNNING", "SUCCEEDED", "PENDING_REDRIVE")
SWEEPS: Final = f"arn:aws:states:{REGION}:{ACCOUNT}:stateMachine:bucketsum-Sweep"


def of_s3(bucket: str, kind: str, source: str = "aws.s3") -> dict[str, Any]:
    """The sample event of events/, of another bucket and kind."""
    messages = json.loads((ROOT / "events" / "sqs-eventbridge.json").read_bytes())["Records"]
    sample: dict[str, Any] = json.loads(messages[0]["body"])
    return sample | {"resources": [f"arn:aws:s3:::{bucket}"], "detail-type": kind, "source": source}


def of_an_execution(status: str, machine: str = SWEEPS) -> dict[str, Any]:
    """The event of an execution's end or beginning."""
    kind, detail = "Step Functions Execution Status Change", {"stateMachineArn": machine}
    return {"source": "aws.states", "detail-type": kind, "detail": detail | {"status": status}}


def wrong_matches(template: str) -> list[str]:
    """Events that a rule must get and does not, or the other way round."""
    rules = Deployed(template).of_type("AWS::Events::Rule")
    others = {name: resource["Properties"] for name, resource in attached()["Resources"].items()}
    rules |= {name: resource for name, resource in others.items() if "EventPattern" in resource}
    expected = [
        *(("Rule0", of_s3(BUCKET, kind), kind not in OTHERS) for kind in EVERY),
        *(("Rule1", of_s3("created-only", kind), kind == CREATED) for kind in (CREATED, *LATER)),
        ("Rule0", of_s3(f"{BUCKET}-2", CREATED), False),
        ("Rule0", of_s3(BUCKET, CREATED, "custom"), False),
        *(("BrokenOffRule", of_an_execution(status), True) for status in BROKEN_OFF),
        *(("BrokenOffRule", of_an_execution(status), False) for status in NOT_BROKEN_OFF),
        ("BrokenOffRule", of_an_execution("FAILED", f"{SWEEPS}2"), False),
    ]
    assert {rule for rule, _, _ in expected} == set(rules)
    pairs = [(rules[rule]["EventPattern"], event) for rule, event, _ in expected]
    lines = "".join(f"{json.dumps(value)}\n" for pair in pairs for value in pair)
    command = ("java", "-cp", f"{TOOLS}/java/*", "tests/proofs/Match.java")
    answers = subprocess.check_output(command, input=lines, text=True, cwd=ROOT).split()
    return [
        f"{rule}: {event}"
        for (rule, event, right), match in zip(expected, answers, strict=True)
        if match != str(right).lower()
    ]


def test_each_rule_gets_its_events() -> None:
    """Objects of attached buckets, and sweeps that failed or were stopped; nothing else."""
    assert wrong_matches(planted("", "")) == []


def test_a_planted_fault_in_a_pattern_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """A status, a source or a kind of event that is missing is reported."""
    assert len(wrong_matches(planted("[ABORTED, TIMED_OUT, FAILED]", "[ABORTED, FAILED]"))) == 1
    assert len(wrong_matches(planted("[aws.states]", "[aws.state]"))) == len(BROKEN_OFF)
    monkeypatch.setattr(access_template, "DETAIL_TYPES", (CREATED,))
    assert len(wrong_matches(planted("", ""))) == len(LATER)
