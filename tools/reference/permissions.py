"""IAM actions of each command, and a policy for each kind of user."""

import json
from collections.abc import Iterable, Mapping, Sequence
from textwrap import fill
from typing import Any, Final

from bench.tables.document import rows_of

EVERY_COMMAND: Final = "cloudformation:DescribeStacks cloudformation:GetTemplate"

_EXECUTIONS: Final = "states:StartExecution states:DescribeExecution states:StopExecution"
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
_TABLES: Final = "dynamodb:ListTables dynamodb:DescribeTable"
"""Of a deleted stack."""
_SNAPSHOT: Final = f"{_TABLES} dynamodb:Scan s3:ListBucketVersions"
_EXPORT: Final = (
    f"{_SNAPSHOT} dynamodb:ExportTableToPointInTime dynamodb:DescribeExport s3:PutObject "
    "s3:PutObjectAcl s3:AbortMultipartUpload s3:GetObject"
)
_STORED: Final = f"{_SNAPSHOT} s3:GetObject s3:ListBucket"
"""Of a question about a snapshot in S3, which is fetched."""
_FORGET: Final = (
    "glue:GetDatabase glue:DeleteDatabase glue:DeleteTable s3:ListBucketVersions "
    "s3:ListBucketMultipartUploads s3:AbortMultipartUpload s3:DeleteObjectVersion"
)
_ATHENA: Final = (
    f"{_EXPORT} athena:StartQueryExecution athena:GetQueryExecution athena:GetQueryResults "
    "athena:StopQueryExecution athena:GetWorkGroup glue:CreateDatabase glue:CreateTable "
    "glue:GetTable glue:GetTables s3:ListBucket s3:GetBucketLocation "
    f"s3:ListMultipartUploadParts {_FORGET} s3:GetBucketMetadataTableConfiguration "
    "glue:GetCatalog lakeformation:GetDataAccess s3tables:GetNamespace s3tables:GetTable "
    "s3tables:GetTableBucket s3tables:GetTableData s3tables:GetTableMetadataLocation"
)
"""The last, from `glue:GetCatalog` on, Athena needs for S3 Metadata's tables, as AWS documents."""
_INVENTORIES: Final = "s3:GetBucketVersioning"
_CHECK: Final = (
    f"{_SHOW} {_TABLES} dynamodb:PutItem dynamodb:UpdateItem lambda:GetFunctionConfiguration "
    f"{_EXECUTIONS} {_COUNTS} sqs:GetQueueAttributes"
)

ACTIONS: Final = {
    "ls": _LS,
    "show": f"{_SHOW} {_LS} s3:ListBucket",
    "find": "dynamodb:Query dynamodb:BatchGetItem dynamodb:DescribeTable dynamodb:Scan "
    "s3:ListBucketVersions",
    "find --list": _STORED,
    "find --snapshot": _STORED,
    "check": f"{_LS} {_FAILURES}",
    **{f"check {option}": f"{_LS} s3:GetObjectVersion" for option in ("--bag", "--bags")},
    "snapshot": _SNAPSHOT,
    "snapshot --inventory": f"{_SNAPSHOT} s3:GetObject s3:GetBucketVersioning",
    "snapshot --via export": f"{_EXPORT} {_INVENTORIES} s3:GetBucketMetadataTableConfiguration",
    "duplicates": _STORED,
    "compare": _STORED,
    "coverage": f"{_STORED} s3:GetBucketVersioning",
    "changes": f"{_STORED} s3:GetBucketVersioning",
    "sql": _STORED,
    "export": f"{_STORED} s3:PutObject",
    **{f"{name} --athena": _ATHENA for name in ("compare", "duplicates", "export", "find", "sql")},
    **{f"{name} --athena": f"{_ATHENA} {_INVENTORIES}" for name in ("changes", "coverage")},
    "snapshot delete": f"{_FORGET} s3:GetObject",
    "page": _STORED,
    "page --publish": f"{_STORED} s3:PutObject",
    "status": _STATUS,
    "failures": _FAILURES,
    "failures --discard": f"{_FAILURES} sqs:DeleteMessage",
    "buckets": _BUCKETS,
    "put": _PUT,
    "redrive": _REDRIVE,
    "redrive --key": "dynamodb:Query s3:ListBucketVersions sqs:SendMessage",
    "stop": f"{_SHOW} dynamodb:UpdateItem dynamodb:PutItem",
    **dict.fromkeys(("backfill", "verify"), f"{_CHECK} s3:GetObject"),
    **dict.fromkeys(("verify report", "backfill report"), f"{_SHOW} {_TABLES} s3:PutObject"),
    "repair": f"{_LS} s3:GetObject s3:GetObjectVersion s3:GetBucketVersioning s3:GetObjectTagging "
    "s3:GetObjectVersionTagging s3:PutObject s3:PutObjectTagging s3:AbortMultipartUpload",
    "import": f"{_BUCKETS} {_SHOW} s3:GetObject s3:GetObjectVersion dynamodb:BatchGetItem "
    "dynamodb:PutItem dynamodb:UpdateItem s3:ListBucketVersions cloudwatch:ListMetrics "
    "cloudwatch:GetMetricData",
    "selftest": f"{_PUT} {_REDRIVE} {_STATUS} {_EXECUTIONS} s3:GetObject s3:ListBucketVersions "
    "s3:ListBucketMultipartUploads s3:DeleteObjectVersion dynamodb:DeleteItem dynamodb:PutItem "
    "lambda:GetFunctionRecursionConfig logs:FilterLogEvents cloudwatch:DescribeAlarms",
    "tune": f"{_SHOW} dynamodb:PutItem lambda:GetFunctionConfiguration {_EXECUTIONS} s3:GetObject "
    "s3:ListBucket s3:GetBucketNotification s3:PutObject s3:AbortMultipartUpload",
    **dict.fromkeys(("attach", "detach"), _ATTACH),
    "delete": f"{_COUNTS} cloudformation:ListStackResources cloudformation:DeleteStack "
    "cloudformation:DescribeStackEvents cloudformation:ListStacks s3:ListBucket "
    "s3:ListBucketMultipartUploads s3:AbortMultipartUpload s3:DeleteObjectVersion "
    "s3:DeleteBucket s3:GetBucketNotification s3:PutBucketNotification dynamodb:DeleteTable "
    "dynamodb:DescribeTable",
}
"""Command → its actions besides those of every command."""

_ADDED: Final = {
    "Read": "ls, show, find, check, status, failures, buckets",
    "Analyse": "snapshot, snapshot --inventory, snapshot --via export, snapshot delete, "
    "find --list, find --snapshot, find --athena, duplicates, duplicates --athena, compare, "
    "compare --athena, coverage, coverage --athena, changes, changes --athena, sql, sql --athena, "
    "page, page --publish, export, export --athena, check --bag, check --bags",
    "Operate": "put, redrive, redrive --key, failures --discard, backfill, backfill report, "
    "verify, verify report, repair, selftest",
    "Measure": "tune",
    "Administer": "attach, detach, stop, import, delete",
}
USERS: Final = {user: tuple(names.split(", ")) for user, names in _ADDED.items()}
"""Kind of user → the commands that its policy adds."""

_OWN_BUCKETS: Final = ("s3:::bucketsum-????????????-*", "s3:::bucketsum-sweepbucket-*")
"""The first with the account's number."""
_REPORTS: Final = "s3:::my-reports/*"
_LISTS: Final = ("s3:::my-lists", "s3:::my-lists/*")
_STACKS: Final = tuple(
    f"cloudformation:*:*:stack/{name}/*" for name in ("bucketsum", "bucketsum-attached")
)
_DIGESTS: Final = "dynamodb:*:*:table/bucketsum-DigestsTable-*"
_RUNS: Final = tuple(
    f"dynamodb:*:*:table/bucketsum-{name}Table-*" for name in ("Backfills", "Measurements")
)
_DEAD_LETTERS: Final = "sqs:*:*:bucketsum-DeadLetterQueue-*"
_QUEUES: Final = tuple(
    f"sqs:*:*:bucketsum-{name}Queue-*" for name in ("Arrivals", "Backfill", "LongObjects")
)

_GLUE: Final = (
    "glue:*:*:catalog",
    "glue:*:*:database/bucketsum_*",
    "glue:*:*:table/bucketsum_*/*",
    "glue:*:*:userDefinedFunction/bucketsum_*/*",
)
_READ_IN_GLUE: Final = (
    *_GLUE,
    "glue:*:*:catalog/s3tablescatalog",
    *(f"glue:*:*:{kind}/s3tablescatalog/aws-s3{of}" for kind, of in
      (("catalog", ""), ("database", "/*"), ("table", "/*"))),
)  # fmt: skip

_ANY: Final = (
    "cloudformation:ListStacks cloudwatch:DescribeAlarms cloudwatch:GetMetricData "
    "cloudwatch:ListMetrics dynamodb:ListTables lakeformation:GetDataAccess "
    "lambda:GetAccountSettings lambda:ListEventSourceMappings"
)
"""Actions that AWS permits for no narrower resource; all of them only read."""

_RESOURCES: Final[Mapping[str, tuple[str, ...]]] = {
    "athena": tuple(f"athena:*:*:workgroup/{name}" for name in ("primary", "my-workgroup")),
    "cloudformation": _STACKS,
    "cloudformation:CreateStack": _STACKS[1:],
    "cloudformation:UpdateStack": _STACKS[1:],
    "dynamodb": (_DIGESTS, *_RUNS),
    "dynamodb:DeleteItem": _RUNS,
    "dynamodb:PutItem": _RUNS,
    "dynamodb:UpdateItem": _RUNS,
    "events": ("events:*:*:rule/bucketsum-attached-*",),
    "glue": _GLUE,
    **dict.fromkeys(("glue:GetCatalog", "glue:GetDatabase", "glue:GetTable"), _READ_IN_GLUE),
    "iam": tuple(
        f"iam::*:{name}-*"
        for name in (
            "policy/bucketsum-NetworkInterfaces",
            "policy/bucketsum-ReadObjects",
            "policy/bucketsum-attached",
            "role/bucketsum-EnqueuerRole",
            "role/bucketsum-HasherRole",
            "role/bucketsum-SlicerRole",
        )
    ),
    "kms": ("kms:*:*:key/*",),
    "lambda": tuple(
        f"lambda:*:*:function:bucketsum-{name}Function-*" for name in ("Hasher", "Slicer", "Prober")
    ),
    "logs": ("logs:*:*:log-group:/bucketsum/bucketsum/*",),
    "s3": (*_OWN_BUCKETS, "s3:::my-photos", "s3:::my-photos/*"),
    "s3tables": ("s3tables:*:*:bucket/aws-s3", "s3tables:*:*:bucket/aws-s3/table/*"),
    "sqs": (_DEAD_LETTERS, *_QUEUES),
    "sqs:ChangeMessageVisibility": (_DEAD_LETTERS,),
    "sqs:DeleteMessage": (_DEAD_LETTERS,),
    "sqs:ReceiveMessage": (_DEAD_LETTERS,),
    "sqs:SendMessage": _QUEUES,
    "states": tuple(f"states:*:*:execution:bucketsum-{name}:*" for name in ("Backfill", "Sweep")),
    "states:StartExecution": tuple(
        f"states:*:*:stateMachine:bucketsum-{name}" for name in ("Backfill", "Sweep")
    ),
}
"""Service or action → the resources of a stack, without `arn:aws:`.

Its name is in lower case, so none of another stack begins as these do.
"""

_RESOURCES_OF_USER: Final[Mapping[str, Mapping[str, tuple[str, ...]]]] = {
    "Analyse": {
        "s3": _LISTS,
        **dict.fromkeys(
            ("s3:GetBucketMetadataTableConfiguration", "s3:GetBucketVersioning"),
            ("s3:::my-photos", *_OWN_BUCKETS),
        ),
        "s3:GetObjectVersion": tuple(
            f"{bucket}/*.txt" for bucket in (_OWN_BUCKETS[0], "s3:::my-photos")
        ),
        "s3:ListBucketVersions": ("s3:::my-lists", "s3:::my-photos", *_OWN_BUCKETS),
    },
    "Operate": {
        "s3:GetObject": (*_RESOURCES["s3"], _REPORTS),
        "s3:PutObject": (*_RESOURCES["s3"], _REPORTS),
        "s3:DeleteObjectVersion": tuple(
            f"{bucket}/bucketsum-selftest-*" for bucket in (_OWN_BUCKETS[0], "s3:::my-photos")
        ),
    },
    "Measure": {
        "dynamodb": _RUNS[1:],
        "dynamodb:PutItem": _RUNS[1:],
        "states": ("states:*:*:execution:bucketsum-Sweep:*",),
        "states:StartExecution": ("states:*:*:stateMachine:bucketsum-Sweep",),
    },
    "Administer": {
        "dynamodb:PutItem": (_DIGESTS,),  # `stop` and `import` write rows
        "dynamodb:UpdateItem": (_DIGESTS,),
        "s3:AbortMultipartUpload": _OWN_BUCKETS,
        "s3:DeleteBucket": _OWN_BUCKETS,
        "s3:DeleteObjectVersion": _OWN_BUCKETS,
        "s3:GetObject": (*_OWN_BUCKETS, "s3:::my-photos/*", "s3:::my-lists/*"),  # reports
    },
}
"""Kind of user → those of its resources that differ."""

_ALSO: Final[Mapping[str, Sequence[Mapping[str, Any]]]] = {
    "Operate": (  # the self-test's own rows, and its long object's progress
        {
            "Effect": "Allow",
            "Action": ["dynamodb:DeleteItem"],
            "Resource": [f"arn:aws:{_DIGESTS}"],
            "Condition": {
                "ForAllValues:StringLike": {
                    "dynamodb:LeadingKeys": ["*/bucketsum-selftest-*", "long-objects"]
                }
            },
        },
    ),
}
"""Kind of user → statements with a condition."""


def policies() -> str:
    """Return the actions of each command and the policy of each kind of user."""
    titles = ("command", f"actions, besides {_listed(EVERY_COMMAND.split())}")
    rows = ((f"`{name}`", _listed(actions.split())) for name, actions in ACTIONS.items())
    return "\n".join((rows_of(titles, rows), *map(_policy, USERS)))


def _listed(actions: Iterable[str]) -> str:
    return ", ".join(f"`{action}`" for action in sorted(set(actions)))


def policy_of(user: str) -> dict[str, Any]:
    """Return the policy of a kind of user.

    Raises:
        KeyError: An action has no resource.
    """
    actions = {action for name in USERS[user] for action in ACTIONS[name].split()}
    statements: dict[tuple[str, ...], list[str]] = {}
    for action in sorted({*actions, *EVERY_COMMAND.split()}):
        statements.setdefault(_resources_of(user, action), []).append(action)
    listed = [
        {"Effect": "Allow", "Action": names, "Resource": [*resources]}
        for resources, names in sorted(statements.items())
    ]
    return {"Version": "2012-10-17", "Statement": [*listed, *_ALSO.get(user, ())]}


def _resources_of(user: str, action: str) -> tuple[str, ...]:
    if action in _ANY.split():
        return ("*",)
    own = _RESOURCES_OF_USER.get(user, {})
    service = action.partition(":")[0]
    named = own.get(action) or _RESOURCES.get(action) or own.get(service) or _RESOURCES[service]
    return tuple(f"arn:aws:{resource}" for resource in named)


def _policy(user: str) -> str:
    text = json.dumps(policy_of(user), indent=1)
    commands = fill(", ".join(f"`{name}`" for name in USERS[user]), 99, break_on_hyphens=False)
    return f"\n## {user}\n\n{commands}:\n\n```json\n{text}\n```"
