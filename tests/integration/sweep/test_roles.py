"""The roles of the sweep's functions: each recorded call is allowed.

tests/template/test_sweep_permissions.py holds that the code needs the rest.
"""

from collections.abc import Callable
from typing import Any, Final

import pytest
from tests.integration.sweep.conftest import BUCKET, Aws
from tests.integration.sweep.test_functions import (
    CONTENT,
    PROBE,
    RUN_ID,
    broken_off,
    ok_sample,
    plan_event,
)
from tests.support.recorded_calls import CallRecorder, Permission, role_permissions

LISTS: Final = Permission("s3:ListBucket", "bucket")
"""S3 answers 404 instead of 403 to a reader that may list."""


@pytest.fixture
def recorder(monkeypatch: pytest.MonkeyPatch) -> CallRecorder:
    """Records calls."""
    return CallRecorder(monkeypatch)


def test_the_planner_calls_what_its_role_allows(
    recorder: CallRecorder, invoke: Callable[[str, dict[str, Any]], Any]
) -> None:
    """A plan and its object."""
    with recorder.recording():
        plan = invoke("planner", plan_event())
        for planned in plan["objects"]:
            invoke("planner", {"action": "object", "workload": "hash", **planned})
    assert role_permissions("PlannerRole") - recorder.calls == {
        LISTS,
        Permission("s3:AbortMultipartUpload", "objects"),  # of an upload that fails
        Permission("dynamodb:BatchWriteItem", "SweepRecordsTable"),  # of the workload records
    }
    assert recorder.calls <= role_permissions("PlannerRole")


def test_the_prober_calls_what_its_role_allows(
    aws: Aws, recorder: CallRecorder, invoke: Callable[[str, dict[str, Any]], Any]
) -> None:
    """A probe of one object."""
    aws.s3.put_object(Bucket=BUCKET, Key="key", Body=CONTENT)
    with recorder.recording():
        assert invoke("prober", PROBE)["status"] == "ok"
    assert recorder.calls == {Permission("s3:GetObject", "objects")}
    assert role_permissions("ProberRole") - recorder.calls == {
        LISTS,
        Permission("dynamodb:BatchGetItem", "SweepRecordsTable"),  # of the workload records
    }


def test_the_analyst_calls_what_its_role_allows(
    aws: Aws, recorder: CallRecorder, invoke: Callable[[str, dict[str, Any]], Any]
) -> None:
    """A run with samples, and an execution that was stopped."""
    invoke("planner", plan_event())
    for cell in aws.measurements.cells(RUN_ID):
        aws.put_sample(RUN_ID, ok_sample(cell.cell_id, 1))
    with recorder.recording():
        invoke(
            "analyst", {"run_id": RUN_ID, "failure": {}, "clean_up": {"deleted": [], "left": []}}
        )
        invoke("analyst", broken_off("ABORTED"))
    assert recorder.calls == role_permissions("AnalystRole")
