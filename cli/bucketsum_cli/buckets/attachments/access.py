"""The stack `NAME-attached`: permissions of the attached buckets, and rules for their events.

It is apart from the stack that it serves, so that no deployment of that one, with whatever saved
parameters, takes anything away from an attached bucket (docs/decisions/0011).
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Any, Final

from botocore.exceptions import ClientError

from bucketsum.events.notifications import DETAIL_TYPES
from bucketsum_cli.aws.stack import description_of
from bucketsum_cli.buckets.served_buckets import (
    AttachedBucket,
    Via,
    access_stack_name,
    attached_to,
    bucket_arn,
    metadata_of,
)
from bucketsum_cli.stacks.teardown import deleted_stack, failures_of
from bucketsum_cli.terminal.errors import CannotDoError
from bucketsum_cli.terminal.output import progress

if TYPE_CHECKING:
    from bucketsum_cli.aws.stack import Stack

    Buckets = Mapping[str, AttachedBucket]

POLICY_CHARACTERS_MAX: Final = 6144
"""[A] IAM, quotas: size of a managed policy, white space not counted."""
POLICIES_MAX: Final = 8
"""[A] IAM, quotas: 10 managed policies of a role, unless raised; two are the stack's own."""
PATTERN_CHARACTERS_MAX: Final = 2048
"""[A] EventBridge, quotas: size of an event pattern, unless raised."""
TEMPLATE_CHARACTERS_MAX: Final = 51_200
"""[A] CloudFormation, quotas: a template in a request."""

_POLL_SECONDS: Final = 2.0
_DONE: Final = ("CREATE_COMPLETE", "UPDATE_COMPLETE", "UPDATE_COMPLETE_CLEANUP_IN_PROGRESS")
_READERS: Final = ("HasherRole", "SlicerRole")
_LISTERS: Final = ("EnqueuerRole",)


def update_access(stack: Stack, change: Callable[[Buckets], Buckets]) -> bool:
    """Apply *change* to the attached buckets of *stack*; returns whether there was a change.

    Raises:
        CannotDoError: They do not fit into one stack, or CloudFormation could not do it and
            restored the old state; the text says why.
    """
    name = access_stack_name(stack.name)
    existing = description_of(stack.connection, name)
    if existing and existing.get("Description") != _description(stack):
        raise CannotDoError(
            f"the stack {name}, whose name the permissions of attached buckets need, is another "
            "one: nothing was changed; rename one of the two"
        )
    buckets = change(attached_to(stack))
    with progress(passing=True) as bar:
        task = bar.add_task("updating the permissions", total=None)
        if buckets:
            statuses = _written(stack, name, template_of(stack, buckets.values()), new=not existing)
        elif existing:
            statuses = deleted_stack(stack.connection, name)
        else:
            return False
        changed = not buckets  # a deletion may end before it has a status
        for status in statuses:
            changed = True
            bar.update(task, description=f"stack {name}: {status}")
    return changed


def _description(stack: Stack) -> str:
    return f"Buckets that `bucketsum attach` gave to the stack {stack.name}; it keeps this stack."


def template_of(stack: Stack, buckets: Iterable[AttachedBucket]) -> dict[str, Any]:
    """Return the template of the stack with the permissions and rules of *buckets*.

    Raises:
        CannotDoError: There are too many.
    """
    listed = sorted(buckets, key=lambda bucket: bucket.name)
    reads = _policies(stack, "Read", listed, _reads)
    lists = _policies(stack, "List", listed, _lists)
    roles = _roles(stack)
    resources = {
        logical_id: {
            "Type": "AWS::IAM::ManagedPolicy",
            "Properties": {
                "Description": _description(stack),
                "PolicyDocument": document,
                "Roles": [roles[role] for role in readers],
            },
        }
        for policies, readers in ((reads, _READERS), (lists, _LISTERS))
        for logical_id, document in policies.items()
    }
    template = {
        "Description": _description(stack),
        "Metadata": metadata_of(listed),
        "Resources": resources | _rules(stack, listed),
    }
    if len(reads) > POLICIES_MAX or _size(template) > TEMPLATE_CHARACTERS_MAX:
        raise CannotDoError(
            f"policies and template have no room for {len(listed)} attached buckets: nothing was "
            "changed; deploy another stack for further buckets"
        )
    return template


def _roles(stack: Stack) -> dict[str, Any]:
    """The names of the roles, imported, so that their stack cannot be deleted before this one."""
    return {role: {"Fn::ImportValue": f"{stack.name}-{role}Name"} for role in _READERS + _LISTERS}


def _policies(
    stack: Stack,
    kind: str,
    buckets: Sequence[AttachedBucket],
    statements: Callable[[Stack, Sequence[AttachedBucket]], list[dict[str, Any]]],
) -> dict[str, dict[str, Any]]:
    """Divide *buckets* among as few policies as their size allows."""

    def document(group: Sequence[AttachedBucket]) -> dict[str, Any]:
        return {"Version": "2012-10-17", "Statement": statements(stack, group)}

    groups = _groups(buckets, lambda group: _size(document(group)) <= POLICY_CHARACTERS_MAX)
    return {f"{kind}Objects{number}": document(group) for number, group in enumerate(groups)}


def _reads(stack: Stack, buckets: Sequence[AttachedBucket]) -> list[dict[str, Any]]:
    """Return what `template.yaml` lets hasher and slicer do in the bucket of the stack."""
    arns = [bucket_arn(stack, bucket.name) for bucket in buckets]
    keys = sorted({bucket.kms_key for bucket in buckets} - {""})
    decrypt = {
        "Effect": "Allow",
        "Action": "kms:Decrypt",
        "Resource": keys,
        "Condition": {
            "StringEquals": {"kms:ViaService": {"Fn::Sub": "s3.${AWS::Region}.${AWS::URLSuffix}"}}
        },
    }
    return [
        {
            "Effect": "Allow",
            "Action": ["s3:GetObject", "s3:GetObjectVersion"],
            "Resource": [f"{arn}/*" for arn in arns],
        },
        {"Effect": "Allow", "Action": ["s3:ListBucket", "s3:ListBucketVersions"], "Resource": arns},
        *([decrypt] if keys else ()),
    ]


def _lists(stack: Stack, buckets: Sequence[AttachedBucket]) -> list[dict[str, Any]]:
    """Return what `template.yaml` lets the enqueuer do in the bucket of the stack."""
    return [
        {
            "Effect": "Allow",
            "Action": ["s3:ListBucketVersions", "s3:GetBucketVersioning"],
            "Resource": [bucket_arn(stack, bucket.name) for bucket in buckets],
        }
    ]


def _rules(stack: Stack, buckets: Sequence[AttachedBucket]) -> dict[str, Any]:
    """Return EventBridge rules and alarms; each pattern has as many buckets as fit into it."""
    by_rule = [bucket for bucket in buckets if bucket.via is Via.EVENTBRIDGE]
    by_rule.sort(key=lambda bucket: bucket.created_only)

    def fits(group: Sequence[AttachedBucket]) -> bool:
        return _size(_pattern(stack, group, created_only=False)) <= PATTERN_CHARACTERS_MAX

    patterns = [
        _pattern(stack, group, created_only=created_only)
        for created_only, alike in groupby(by_rule, lambda bucket: bucket.created_only)
        for group in _groups(list(alike), fits)
    ]
    queue = stack.arrivals_queue_arn
    dead_letters = f"{queue.rpartition(':')[0]}:{stack.dead_letter_queue_url.rpartition('/')[2]}"
    target = {"Id": "arrivals-queue", "Arn": queue, "DeadLetterConfig": {"Arn": dead_letters}}
    resources: dict[str, Any] = {}
    for number, pattern in enumerate(patterns):
        rule = f"{access_stack_name(stack.name)}-{number}"  # the queue's policy admits this name
        resources[f"Rule{number}"] = {
            "Type": "AWS::Events::Rule",
            "Properties": {
                "Name": rule,
                "Description": "Sends events of objects in attached buckets to the arrivals queue.",
                "EventPattern": pattern,
                "Targets": [target],
            },
        }
        resources[f"Rule{number}Alarm"] = _alarm(stack, rule)
    return resources


def _alarm(stack: Stack, rule: str) -> dict[str, Any]:
    topic = stack.parameters.get("AlarmTopicArn")
    return {
        "Type": "AWS::CloudWatch::Alarm",
        "Properties": {
            "AlarmDescription": "EventBridge could not send events of attached buckets to the "
            "arrivals queue. See `bucketsum buckets` and `bucketsum failures`.",
            "Namespace": "AWS/Events",
            "MetricName": "FailedInvocations",
            "Dimensions": [{"Name": "RuleName", "Value": rule}],
            "Statistic": "Sum",
            "Period": 300,
            "EvaluationPeriods": 1,
            "Threshold": 0,
            "ComparisonOperator": "GreaterThanThreshold",
            "TreatMissingData": "notBreaching",
            **({"AlarmActions": [topic], "OKActions": [topic]} if topic else {}),
        },
    }


def _pattern(
    stack: Stack, buckets: Sequence[AttachedBucket], *, created_only: bool
) -> dict[str, Any]:
    return {
        "source": ["aws.s3"],
        "detail-type": list(DETAIL_TYPES)[: 1 if created_only else None],
        "resources": [bucket_arn(stack, bucket.name) for bucket in buckets],
    }


def _groups(
    buckets: Sequence[AttachedBucket], fits: Callable[[Sequence[AttachedBucket]], bool]
) -> Iterator[list[AttachedBucket]]:
    group: list[AttachedBucket] = []
    for bucket in buckets:
        if group and not fits([*group, bucket]):
            yield group
            group = []
        group.append(bucket)
    if group:
        yield group


def _compact(document: Mapping[str, Any]) -> str:
    return json.dumps(document, separators=(",", ":"))


def _size(document: Mapping[str, Any]) -> int:
    return len(_compact(document))


def _written(stack: Stack, name: str, template: Mapping[str, Any], *, new: bool) -> Iterator[str]:
    """Create or update the stack *name*; yield its status until it is done."""
    cloudformation: Any = stack.client("cloudformation")
    write = cloudformation.create_stack if new else cloudformation.update_stack
    body = _compact(template)
    options = {"OnFailure": "DELETE"} if new else {}
    try:
        written = write(
            StackName=name, TemplateBody=body, Capabilities=["CAPABILITY_IAM"], **options
        )
    except ClientError as error:
        if "No updates are to be performed" in error.response["Error"].get("Message", ""):
            return
        raise
    while True:
        description = description_of(stack.connection, written["StackId"])
        status = description["StackStatus"] if description else "DELETE_COMPLETE"
        if status in _DONE:
            yield status
            return
        if status.endswith(("_FAILED", "ROLLBACK_COMPLETE", "DELETE_COMPLETE")):
            reasons = failures_of(cloudformation, written["StackId"], "_FAILED")
            raise CannotDoError(
                f"CloudFormation could not write the stack {name} ({status}): "
                f"{reasons[-1] if reasons else 'see its events'}"
            )
        yield status
        time.sleep(_POLL_SECONDS)
