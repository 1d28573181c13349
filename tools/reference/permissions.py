"""IAM actions of each command, and a policy for each kind of user."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Final

from bench.tables.document import rows_of

EVERY_COMMAND: Final = "cloudformation:DescribeStacks cloudformation:GetTemplate"

_RUNS: Final = "states:StartExecution states:DescribeExecution states:StopExecution"
_COUNTS: Final = "cloudwatch:ListMetrics cloudwatch:GetMetricData s3:ListBucketVersions"
_SHOW: Final = "dynamodb:Query dynamodb:GetItem"
_PUT: Final = (
    "s3:GetBucketNotification s3:PutObject s3:AbortMultipartUpload dynamodb:BatchGetItem "
    "dynamodb:GetItem"
)
_LS: Final = "s3:GetBucketNotification s3:ListBucketVersions dynamodb:BatchGetItem dynamodb:Query"
_FAILURES: Final = "sqs:ReceiveMessage sqs:ChangeMessageVisibility sqs:GetQueueAttributes"
_REDRIVE: Final = f"{_FAILURES} sqs:DeleteMessage sqs:SendMessage"
_BUCKETS: Final = (
    "s3:GetBucketNotification s3:ListBucket sqs:GetQueueAttributes "
    "cloudformation:ListStackResources iam:ListRolePolicies iam:GetRolePolicy "
    "iam:ListAttachedRolePolicies iam:GetPolicy iam:GetPolicyVersion events:DescribeRule"
)
_STATUS: Final = (
    f"{_BUCKETS} {_SHOW} cloudwatch:GetMetricData lambda:ListEventSourceMappings "
    "lambda:GetAccountSettings lambda:GetFunctionConfiguration"
)
_ATTACH: Final = (
    f"{_BUCKETS} s3:PutBucketNotification s3:GetBucketLogging s3:GetEncryptionConfiguration "
    "s3:GetBucketPolicy s3:GetBucketOwnershipControls kms:DescribeKey cloudformation:CreateStack "
    "cloudformation:UpdateStack cloudformation:DeleteStack cloudformation:DescribeStackEvents"
)
_SNAPSHOT: Final = "dynamodb:DescribeTable dynamodb:Scan s3:ListBucketVersions"
_ATHENA: Final = (
    f"{_SNAPSHOT} athena:StartQueryExecution athena:GetQueryExecution athena:GetQueryResults "
    "athena:StopQueryExecution glue:CreateDatabase glue:GetDatabase glue:CreateTable "
    "glue:UpdateTable glue:GetTable glue:GetTables s3:PutObject s3:AbortMultipartUpload "
    "s3:GetObject s3:ListBucket s3:GetBucketLocation"
)
_FORGET: Final = (
    "glue:DeleteDatabase s3:ListBucketVersions s3:ListBucketMultipartUploads "
    "s3:AbortMultipartUpload s3:DeleteObjectVersion"
)
_CHECK: Final = (
    f"{_SHOW} dynamodb:PutItem dynamodb:UpdateItem lambda:GetFunctionConfiguration "
    f"{_RUNS} {_COUNTS} sqs:GetQueueAttributes"
)

ACTIONS: Final = {
    "ls": _LS,
    "show": f"{_SHOW} {_LS} s3:ListBucket",
    "find": "dynamodb:Query dynamodb:BatchGetItem dynamodb:DescribeTable dynamodb:Scan",
    "find --list": _SNAPSHOT,
    "find --snapshot": _SNAPSHOT,
    "check": f"{_LS} {_FAILURES}",
    "snapshot": _SNAPSHOT,
    "snapshot --via export": f"{_SNAPSHOT} dynamodb:ExportTableToPointInTime "
    "dynamodb:DescribeExport s3:PutObject s3:AbortMultipartUpload s3:GetObject",
    "duplicates": _SNAPSHOT,
    "compare": f"{_SNAPSHOT} s3:GetObject",
    "coverage": f"{_SNAPSHOT} s3:GetObject s3:GetBucketVersioning",
    "sql": _SNAPSHOT,
    **{f"{name} --athena": _ATHENA for name in ("duplicates", "find", "sql")},
    "coverage --athena": f"{_ATHENA} s3:GetBucketVersioning",
    "compare --athena": f"{_ATHENA} {_FORGET}",
    "snapshot delete": _FORGET,
    "page": _SNAPSHOT,
    "page --publish": f"{_SNAPSHOT} s3:PutObject s3:ListBucket s3:GetObject",
    "export": f"{_SNAPSHOT} s3:PutObject",
    "status": _STATUS,
    "failures": _FAILURES,
    "buckets": _BUCKETS,
    "put": _PUT,
    "redrive": _REDRIVE,
    "redrive --key": "dynamodb:Query sqs:SendMessage",
    "stop": f"{_SHOW} dynamodb:UpdateItem dynamodb:PutItem",
    "backfill": f"{_CHECK} s3:GetObject",
    "verify": _CHECK,
    "selftest": f"{_PUT} {_REDRIVE} {_STATUS} {_RUNS} s3:GetObject s3:ListBucketVersions "
    "s3:ListBucketMultipartUploads s3:DeleteObjectVersion dynamodb:DeleteItem dynamodb:PutItem "
    "lambda:GetFunctionRecursionConfig logs:FilterLogEvents cloudwatch:DescribeAlarms",
    "tune": f"{_SHOW} dynamodb:PutItem lambda:GetFunctionConfiguration {_RUNS} s3:GetObject "
    "s3:ListBucket s3:GetBucketNotification s3:PutObject s3:AbortMultipartUpload",
    "attach": _ATTACH,
    "detach": _ATTACH,
    "delete": f"{_COUNTS} cloudformation:ListStackResources cloudformation:DeleteStack "
    "cloudformation:DescribeStackEvents cloudformation:ListStacks s3:ListBucket "
    "s3:ListBucketMultipartUploads s3:AbortMultipartUpload s3:DeleteObjectVersion "
    "s3:DeleteBucket s3:GetBucketNotification s3:PutBucketNotification dynamodb:DeleteTable "
    "dynamodb:DescribeTable",
}
"""Command → its actions besides those of every command."""

_USERS: Final = {
    "Read": (
        "ls",
        "show",
        "find",
        "check",
        "snapshot",
        "duplicates",
        "status",
        "failures",
        "buckets",
    ),
    "Operate": ("put", "redrive", "redrive --key", "stop", "backfill", "verify", "selftest"),
    "Measure": ("tune",),
    "Administer": ("attach", "detach", "delete"),
}
"""Kind of user → the commands that its policy adds."""

_RESOURCES: Final = {
    "dynamodb": ["arn:aws:dynamodb:*:*:table/bucketsum-*"],
    "sqs": ["arn:aws:sqs:*:*:bucketsum-*"],
    "s3": [
        f"arn:aws:s3:::{bucket}{objects}"
        for bucket in ("bucketsum-*", "my-photos")
        for objects in ("", "/*")
    ],
}
"""Service → the resources of a stack; others have no names that begin with the stack's."""


def policies() -> str:
    """Return the actions of each command and the policy of each kind of user."""
    titles = ("command", f"actions, besides {_listed(EVERY_COMMAND.split())}")
    rows = ((f"`{name}`", _listed(actions.split())) for name, actions in ACTIONS.items())
    return "\n".join((rows_of(titles, rows), *map(_policy, _USERS)))


def _listed(actions: Iterable[str]) -> str:
    return ", ".join(f"`{action}`" for action in sorted(set(actions)))


def _policy(user: str) -> str:
    actions = {action for name in _USERS[user] for action in ACTIONS[name].split()}
    actions |= set(EVERY_COMMAND.split())
    services: dict[str, list[str]] = {}
    for action in sorted(actions):
        service = action.partition(":")[0]
        services.setdefault(service if service in _RESOURCES else "others", []).append(action)
    statements = [
        {"Effect": "Allow", "Action": names, "Resource": _RESOURCES.get(service, "*")}
        for service, names in services.items()
    ]
    text = json.dumps({"Version": "2012-10-17", "Statement": statements}, indent=1)
    commands = ", ".join(f"`{name}`" for name in _USERS[user])
    return f"\n## {user}\n\n{commands}:\n\n```json\n{text}\n```"
