"""Rules for every role and policy of the template."""

from __future__ import annotations

from typing import Final

import pytest
from tests.support.recorded_calls import listed
from tests.template.roles import RESOURCES, known_actions, resources_outside, statements_of

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
