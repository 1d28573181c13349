"""The policies of docs/reference/permissions.md, as the local emulator's IAM decides them."""

import json
import re
from itertools import product
from typing import Final

import pytest
from ministack.core import iam_evaluator
from tests.proofs.expanded import ACCOUNT, REGION
from tests.support.sam_template import load_template
from tools.reference.permissions import USERS, policy_of

ALLOWED: Final = """
Read,Operate sqs:ReceiveMessage bucketsum-DeadLetterQueue-1
Operate sqs:SendMessage bucketsum-ArrivalsQueue-1
Read dynamodb:Query table/bucketsum-DigestsTable-1/index/by-sha1
Analyse dynamodb:ExportTableToPointInTime table/bucketsum-DigestsTable-1
Analyse dynamodb:DescribeExport table/bucketsum-DigestsTable-1/export/01
Analyse s3:PutObject,PutObjectAcl my-lists/export/1
Analyse glue:CreateTable table/bucketsum_1f/objects
Analyse athena:StartQueryExecution,GetWorkGroup workgroup/primary,workgroup/my-workgroup
Analyse glue:GetTable table/s3tablescatalog/aws-s3/b_my-photos/inventory
Analyse glue:GetCatalog catalog/s3tablescatalog/aws-s3
Analyse s3tables:GetTableData bucket/aws-s3/table/1
Analyse s3:GetBucketMetadataTableConfiguration my-photos
Operate states:StartExecution stateMachine:bucketsum-Backfill
Operate,Measure states:StopExecution execution:bucketsum-Sweep:1
Operate dynamodb:DeleteItem table/bucketsum-DigestsTable-1 in/bucketsum-selftest-1/a
Operate s3:DeleteObjectVersion bucketsum-123456789012-us-east-1/bucketsum-selftest-1/a
Administer cloudformation:UpdateStack,DeleteStack stack/bucketsum-attached/1
Administer cloudformation:DeleteStack stack/bucketsum/1
Administer s3:DeleteBucket bucketsum-123456789012-us-east-1
Administer s3:PutBucketNotification my-photos
Administer iam:GetPolicy policy/bucketsum-attached-ReadObjects0-1
"""

DENIED: Final = """
Administer cloudformation:CreateStack,UpdateStack stack/bucketsum/1,stack/payroll/1
Administer cloudformation:DeleteStack stack/payroll/1,stack/bucketsum-two/1
Read cloudformation:GetTemplate stack/payroll/1
Administer,Operate,Read iam:GetRolePolicy role/Admin,role/bucketsum-two-HasherRole-1
Operate,Measure states:StartExecution stateMachine:BackfillStateMachine-1,stateMachine:payroll
Operate states:StopExecution execution:payroll:1,execution:bucketsum-two-Backfill:1
Measure states:StartExecution stateMachine:bucketsum-Backfill
Read,Operate sqs:ReceiveMessage,ChangeMessageVisibility bucketsum-ArrivalsQueue-1,other
Operate sqs:DeleteMessage bucketsum-ArrivalsQueue-1,bucketsum-BackfillQueue-1
Operate sqs:SendMessage bucketsum-DeadLetterQueue-1,bucketsum-two-ArrivalsQueue-1
Operate dynamodb:PutItem,UpdateItem table/bucketsum-DigestsTable-1
Operate dynamodb:DeleteItem table/bucketsum-DigestsTable-1 in/photo
Operate,Measure,Read,Analyse s3:DeleteObjectVersion my-photos/a,bucketsum-123456789012-us-east-1/a
Analyse s3:PutObject,GetObject my-photos/a,bucketsum-123456789012-us-east-1/a
Administer s3:DeleteBucket,DeleteObjectVersion my-photos,my-photos/a,bucketsum-two-123456789012-x
Administer dynamodb:DeleteTable table/bucketsum-two-DigestsTable-1,table/payroll
Analyse glue:CreateTable,DeleteDatabase table/payroll/t,database/payroll
Analyse glue:CreateTable,DeleteTable table/s3tablescatalog/aws-s3/b_my-photos/inventory
Analyse s3tables:GetTableData bucket/payroll/table/1
Analyse athena:StartQueryExecution workgroup/other
Read lambda:GetFunctionConfiguration payroll,bucketsum-two-HasherFunction-1
Operate logs:FilterLogEvents /aws/lambda/payroll,/bucketsum/bucketsum-two/hasher
"""
"""Kinds of user, actions, resources, and a partition key of the table."""


def rows_of(text: str) -> list[list[str]]:
    """A row for each combination of users, actions and resources."""
    rows = []
    for line in text.strip().splitlines():
        users, actions, places, *keys = line.split()
        service, names = actions.split(":")
        for user, name, place in product(users.split(","), names.split(","), places.split(",")):
            rows.append([user, f"{service}:{name}", place, *(keys or [""])])
    return rows


def arn_of(action: str, place: str) -> str:
    """The ARN of *place*, as the service of *action* writes it."""
    service = action.partition(":")[0]
    if service == "s3":
        return f"arn:aws:s3:::{place}"
    kind = {"lambda": "function:", "logs": "log-group:"}.get(service, "")
    region = "" if service == "iam" else REGION
    return f"arn:aws:{service}:{region}:{ACCOUNT}:{kind}{place}"


def is_allowed(user: str, action: str, arn: str, partition: str = "") -> bool:
    """Whether IAM allows the call to the holder of the policy alone."""
    request = iam_evaluator.EvalContext(
        principal_arn=f"arn:aws:iam::{ACCOUNT}:user/{user}",
        principal_type="User",
        principal_account=ACCOUNT,
        action=action,
        resource_arn=arn,
        region=REGION,
        secure_transport=True,
        service_context={"dynamodb:leadingkeys": partition} if partition else {},
    )
    policy = iam_evaluator.parse_policy_document(policy_of(user))
    return str(iam_evaluator.evaluate(request, [policy]).decision) == "Allow"


@pytest.mark.parametrize(("user", "action", "place", "partition"), rows_of(ALLOWED))
def test_a_user_may_do_what_the_commands_do(
    user: str, action: str, place: str, partition: str
) -> None:
    """The policy reaches the stack's own resources."""
    assert is_allowed(user, action, arn_of(action, place), partition)


@pytest.mark.parametrize(("user", "action", "place", "partition"), rows_of(DENIED))
def test_a_user_may_do_nothing_to_the_resources_of_others(
    user: str, action: str, place: str, partition: str
) -> None:
    """No policy reaches another stack, or what only the functions may do."""
    assert not is_allowed(user, action, arn_of(action, place), partition)


@pytest.mark.parametrize("user", USERS)
def test_a_policy_fits_into_a_managed_one_and_names_what_the_template_makes(user: str) -> None:
    """IAM takes 6,144 characters; a pattern of a name that no stack has would refuse all."""
    text = json.dumps(policy_of(user), separators=(",", ":"))
    assert len(text) <= 6144
    names = set(re.findall(r"bucketsum-([A-Z]\w+)-\*", text))
    assert names <= {*load_template()["Resources"]}
