"""Rules for every role and policy of the template."""

from dataclasses import replace
from fnmatch import fnmatch
from functools import partial
from types import SimpleNamespace
from typing import Any, Final

import pytest
from tests.support.recorded_calls import listed
from tests.template.roles import RESOURCES, known_actions, resources_outside, statements_of

from bucketsum.hashing.verification import Verification
from bucketsum.table.archive_settings import Mode
from bucketsum.table.archive_status import ArchiveStatus
from bucketsum.table.checksum_values import ChecksumResult, Compared
from bucketsum.table.digests_table import DigestsTable
from bucketsum.table.row_parts import ArchiveRecord
from bucketsum.table.rows import Row, Status

SERVICES: Final = {"BackfillRole": "states", "SweepRole": "states", "ScheduleRole": "scheduler"}
"""Role → its service; of all others it is Lambda."""
OF_BACKFILLS: Final = ("EnqueuerRole", "BackfillRole")
OWN_BUCKET: Final = r"\$\{AWS::StackName}-\$\{AWS::AccountId}-\$\{AWS::Region}"
SWEEPS: Final = (
    r"Sweep|Prober|Measurements|Planner|Publisher|Analyst",
    r"Hasher|Digests|Arrivals|Inbox",
)
BACKFILLS: Final = (
    rf"Backfill|Enqueuer|Bucket|KmsKeyArn|{OWN_BUCKET}|stack/.*-attached/|DigestsTable|ReportTopicArn",
    r"Hasher|ArrivalsQueue|Slicer|Sweep",
)
"""The names of a role's resources are of the first kind, and none is of the second."""


def named(kind: str) -> list[str]:
    """The resources whose type ends with *kind*."""
    return [name for name, resource in RESOURCES.items() if resource["Type"].endswith(kind)]


@pytest.mark.parametrize("name", [*named("Role"), *named("Policy")])
def test_actions_exist(name: str) -> None:
    """IAM knows every action; a misspelt one would be accepted and do nothing."""
    for statement in statements_of(name):
        for action in listed(statement["Action"]):
            service, operation = action.split(":")
            known = known_actions()[service]["Actions"]
            assert operation == "*" or operation.removesuffix("*").lower() in known, action


@pytest.mark.parametrize("name", named("::Role"))
def test_only_its_service_takes_a_role(name: str) -> None:
    """Step Functions, Scheduler or Lambda; no person and no other service can act as the role.

    AWS asks for the account in the trust of the first two. For Lambda it does not: a function has
    a role of its own account only, and whoever made it needs iam:PassRole.
    """
    service = SERVICES.get(name, "lambda")
    [statement] = RESOURCES[name]["Properties"]["AssumeRolePolicyDocument"]["Statement"]
    own_account = {"StringEquals": {"aws:SourceAccount": {"Ref": "AWS::AccountId"}}}
    assert statement == {
        "Effect": "Allow",
        "Principal": {"Service": f"{service}.amazonaws.com"},
        "Action": "sts:AssumeRole",
        **({"Condition": own_account} if name in SERVICES else {}),
    }


@pytest.mark.parametrize("name", ["EnqueuerRole", "BackfillRole"])
def test_every_permission_of_backfills_names_a_resource_of_this_stack(name: str) -> None:
    """No wildcard; backfills reach nothing of the arrivals' functions, and write no digests."""
    assert not resources_outside(name, *BACKFILLS)
    writes = {action for s in statements_of(name) if "DigestsTable" in str(s["Resource"])
              for action in listed(s["Action"])}  # fmt: skip
    assert writes <= {
        "dynamodb:Query", "dynamodb:Scan", "dynamodb:GetItem", "dynamodb:DescribeTable",
    }  # fmt: skip


def test_the_slicer_may_change_what_a_verification_changes() -> None:
    """No request that ends a reading names an attribute beyond those in the policy."""
    [policy] = [s for s in statements_of("SlicerRole") if s.get("Sid") == "MarkVerifiedRows"]
    patterns = policy["Condition"]["ForAllValues:StringLike"]["dynamodb:Attributes"]
    names: set[str] = set()

    def update_item(**request: Any) -> None:  # noqa: ANN401 - as botocore's
        names.update(request["Key"], request["ExpressionAttributeNames"].values())

    client: Any = SimpleNamespace(
        update_item=update_item,
        get_paginator=lambda _: SimpleNamespace(paginate=lambda **_: []),
        exceptions=SimpleNamespace(ConditionalCheckFailedException=LookupError),
    )
    table, archive = (
        DigestsTable(client, "digests"),
        ArchiveRecord(ArchiveStatus.OUT_OF_TIME, Mode.STREAM, 0, 0, 0, 0, 0.0, reason="too large"),
    )
    sha1, other = "0" * 40, "1" * 40
    recorded = Row("b", "k", "v", Status.HASHED, 1, "", "", "", sha1=sha1)
    for result in ChecksumResult:
        compared = Compared(result, "crc32:AAAA", "why" if result is not result.EQUAL else None)
        row = replace(recorded, compared=compared, digests={"md5": "0"}, archive=archive)
        Verification(recorded).finish(table, row, f"sha1:{sha1}")
        Verification(recorded).finish(table, replace(row, sha1=other), f"sha1:{other}")
    refused = replace(recorded, status=Status.UNREADABLE, sha1=None, reason="denied")
    Verification(recorded).refused(table, refused)
    assert [name for name in names if not any(map(partial(fnmatch, name), patterns))] == []
