"""Calls that IAM must allow, and calls that it must deny.

A row has principals, actions and resources, each a list with commas, and the request's context.
As a plugin of pytest, this module writes the calls that the tests of the roles record.
"""

import os
import re
from collections.abc import Iterable, Iterator
from itertools import product
from pathlib import Path
from typing import Any, Final

import pytest
from tests.proofs.expanded import ACCOUNT, KEY, REGION

FILE: Final = "RECORDED_CALLS"  # tests forget those of the command, which begin with BUCKETSUM_
"""The environment variable with the file to write."""
VIA_S3: Final = f"{KEY} kms:ViaService=s3.{REGION}.amazonaws.com"
RULE: Final = f"aws:SourceArn=arn:aws:events:{REGION}:{ACCOUNT}:rule/bucketsum"
FROM_S3: Final = f"aws:SourceArn=arn:aws:s3:::any aws:SourceAccount={ACCOUNT}"
OTHER: Final = "210987654321"
CHILD: Final = "execution:bucketsum-Backfill/Work:child"
ATTACHED: Final = "arn:aws:s3:::created-only"

ALLOWED: Final = f"""\
s3.amazonaws.com sqs:SendMessage ArrivalsQueue {FROM_S3}
events.amazonaws.com sqs:SendMessage ArrivalsQueue,DeadLetterQueue {RULE}-attached-0
lambda.amazonaws.com sts:AssumeRole HasherRole,SlicerRole,EnqueuerRole
states.amazonaws.com sts:AssumeRole BackfillRole,SweepRole aws:SourceAccount={ACCOUNT}
scheduler.amazonaws.com sts:AssumeRole ScheduleRole aws:SourceAccount={ACCOUNT}
ScheduleRole lambda:InvokeFunction EnqueuerFunction
HasherRole,SlicerRole,EnqueuerRole kms:Decrypt {VIA_S3}
HasherRole,SlicerRole s3:ListBucket,ListBucketVersions InboxBucket,{ATTACHED}
HasherRole,SlicerRole,EnqueuerRole s3:GetObject,GetObjectVersion,GetObjectAttributes {ATTACHED}/key
HasherRole sqs:ChangeMessageVisibility BackfillQueue
HasherRole sqs:SendMessage ArrivalsQueue,BackfillQueue
SlicerRole sqs:ChangeMessageVisibility LongObjectsQueue
EnqueuerRole s3:ListBucketVersions,GetBucketVersioning {ATTACHED}
BackfillRole lambda:InvokeFunction EnqueuerFunction
BackfillRole states:StartExecution BackfillStateMachine
BackfillRole states:DescribeExecution,StopExecution {CHILD},execution:bucketsum-Backfill:run
SweepRole lambda:InvokeFunction PlannerFunction,PublisherFunction,AnalystFunction,ProberFunction:7
SweepRole dynamodb:PutItem,UpdateItem MeasurementsTable
PlannerRole,ProberRole s3:ListBucket SweepBucket
PlannerRole s3:AbortMultipartUpload SweepBucket/objects/1
PlannerRole dynamodb:BatchWriteItem SweepRecordsTable
ProberRole dynamodb:BatchGetItem SweepRecordsTable
PublisherRole lambda:GetFunctionConfiguration ProberFunction,ProberFunction:7
PublisherRole lambda:UpdateFunctionConfiguration,PublishVersion ProberFunction
PublisherRole lambda:ListVersionsByFunction ProberFunction
PublisherRole lambda:DeleteFunction ProberFunction:7
PublisherRole dynamodb:Query,PutItem MeasurementsTable
PlannerRole,PublisherRole states:DescribeExecution execution:bucketsum-Sweep:run
"""
"""Principals, actions, resources, context: what services do, and what is not recorded."""

DENIED: Final = f"""\
s3.amazonaws.com sqs:SendMessage ArrivalsQueue {FROM_S3.replace(ACCOUNT, OTHER)}
s3.amazonaws.com sqs:SendMessage DeadLetterQueue,BackfillQueue,LongObjectsQueue {FROM_S3}
events.amazonaws.com sqs:SendMessage ArrivalsQueue,DeadLetterQueue {RULE}-other
sns.amazonaws.com sqs:SendMessage ArrivalsQueue {FROM_S3}
lambda.amazonaws.com sts:AssumeRole BackfillRole,SweepRole aws:SourceAccount={ACCOUNT}
states.amazonaws.com sts:AssumeRole HasherRole,SlicerRole,EnqueuerRole
states.amazonaws.com sts:AssumeRole BackfillRole,SweepRole aws:SourceAccount={OTHER}
scheduler.amazonaws.com sts:AssumeRole ScheduleRole aws:SourceAccount={OTHER}
ScheduleRole lambda:InvokeFunction HasherFunction,SlicerFunction
HasherRole,SlicerRole,EnqueuerRole kms:Decrypt {KEY}
HasherRole,SlicerRole,EnqueuerRole kms:Decrypt {VIA_S3.replace("555 ", "550 ")}
HasherRole,SlicerRole,EnqueuerRole s3:GetObject InboxBucket/key aws:SecureTransport=false
HasherRole,SlicerRole,EnqueuerRole s3:PutObject,DeleteObject,DeleteObjectVersion \
InboxBucket/key,{ATTACHED}/key
HasherRole,SlicerRole,EnqueuerRole s3:GetObject arn:aws:s3:::others/key,SweepBucket/key
HasherRole,SlicerRole dynamodb:Scan DigestsTable
SlicerRole,EnqueuerRole sqs:SendMessage ArrivalsQueue
HasherRole dynamodb:DeleteItem DigestsTable
SlicerRole dynamodb:DeleteItem DigestsTable dynamodb:LeadingKeys=inbox/key
SlicerRole dynamodb:UpdateItem DigestsTable dynamodb:LeadingKeys=inbox/key \
dynamodb:Attributes=status
SlicerRole,EnqueuerRole sqs:ReceiveMessage ArrivalsQueue
EnqueuerRole dynamodb:PutItem,UpdateItem DigestsTable
BackfillRole,SweepRole lambda:InvokeFunction HasherFunction,ProberFunction
BackfillRole states:StartExecution SweepStateMachine
SweepRole,AnalystRole,PlannerRole,PublisherRole,ProberRole dynamodb:PutItem DigestsTable
PlannerRole s3:PutObject InboxBucket/key
ProberRole s3:GetObject InboxBucket/key
ProberRole s3:PutObject SweepBucket/key
PublisherRole lambda:UpdateFunctionConfiguration HasherFunction
PublisherRole lambda:UpdateFunctionCode ProberFunction
"""
"""What holders of a role, and services, must not be able to do."""


def calls(rows: Iterable[str]) -> Iterator[str]:
    """A call for each combination of a row's principals, actions and resources."""
    for row in rows:
        principals, actions, places, *context = row.split()
        service, names = actions.split(":")
        for call in product(principals.split(","), names.split(","), places.split(",")):
            yield " ".join((call[0], f"{service}:{call[1]}", call[2], *context))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Function) -> Iterator[None]:
    """Append what the test has recorded, after it has passed."""
    yield
    [function] = re.findall(r"_the_(\w+)_calls_", item.name)
    bucket = "SweepBucket" if function in {"planner", "prober"} else "InboxBucket"
    objects = "arn:aws:s3:::inventories/key" if function == "enqueuer" else f"{bucket}/key"
    places = {"bucket": bucket, "objects": objects, "executions": "execution:bucketsum-Sweep:run"}
    recorder: Any = item.funcargs["recorder"]
    with Path(os.environ[FILE]).open("a", encoding="utf-8") as file:
        for action, resource in recorder.calls:
            call = f"{function.title()}Role {action} {places.get(resource, resource)}"
            keys = recorder.partitions.get(action, ["-"])
            file.writelines(f"{call} dynamodb:LeadingKeys={key}\n" for key in keys)
