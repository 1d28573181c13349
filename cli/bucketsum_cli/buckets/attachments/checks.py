"""The buckets of a stack, each with the parts that are missing on the path of its events."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from typing import Annotated, Any

from bucketsum.events.notifications import DETAIL_TYPES
from bucketsum_cli.aws.stack import Stack
from bucketsum_cli.aws.stack_description import description_of, physical_ids, resources_of
from bucketsum_cli.buckets.attachments.access import deviations
from bucketsum_cli.buckets.attachments.notifications import (
    configuration_of,
    notifications_in,
    sends_to_eventbridge,
)
from bucketsum_cli.buckets.attachments.queue_notification import CREATED, missing_events
from bucketsum_cli.buckets.bucket_contents import exists
from bucketsum_cli.buckets.served_buckets import (
    REPORT_PARAMETER,
    AttachedBucket,
    Via,
    access_stack_name,
    attached_to,
    bucket_arn,
    creates,
)


@dataclass(frozen=True, slots=True)
class Attachment:
    """A bucket that a stack hashes."""

    bucket: str
    via: Annotated[Via, "Route of the events to the queue."]
    notified_keys: Annotated[
        tuple[str, ...], "The keys that are hashed: a text for each notification."
    ]
    problems: Annotated[tuple[str, ...], "Missing parts; empty if the bucket's objects are hashed."]


@dataclass(frozen=True, slots=True)
class Rule:
    """An enabled rule of EventBridge.

    Attributes:
        buckets: ARNs of the buckets in its pattern.
        events: EventBridge's names of the events in its pattern.
    """

    arn: str
    buckets: Sequence[str]
    events: Sequence[str]


@dataclass(frozen=True, slots=True)
class Permissions:
    """The deployed policies and rules that concern buckets.

    Attributes:
        queue: Statements of the arrivals queue's policy.
        role: Statements of the policies of the hasher's role.
        rules: The rules that send events of attached buckets to the queue.
        deviations: Differences of the attached buckets' stack from what the main stack needs.
    """

    queue: Sequence[Mapping[str, Any]]
    role: Sequence[Mapping[str, Any]]
    rules: Sequence[Rule]
    deviations: Sequence[str]

    @classmethod
    def of(cls, stack: Stack) -> Permissions:
        """Read the policies and the rules of a stack."""
        policy = stack.queue_attributes(stack.arrivals_queue_url).get("Policy")
        role = physical_ids(stack.connection, stack.name).get("HasherRole")
        return cls(
            queue=statements_of(json.loads(policy)) if policy else (),
            role=tuple(_role_statements(stack, role)),
            rules=tuple(_rules(stack)),
            deviations=tuple(deviations(stack, attached_to(stack))),
        )

    def may_read(self, arn: str) -> bool:
        """Whether the role may read the objects of the bucket *arn*."""
        return any(
            "s3:GetObject" in _listed(statement["Action"])
            and f"{arn}/*" in _listed(statement["Resource"])
            for statement in self.role
            if statement["Effect"] == "Allow"
        )


def attachments(stack: Stack) -> Iterator[Attachment]:
    """Yield the stack's own bucket, then the attached ones."""
    permissions, attached = Permissions.of(stack), attached_to(stack)
    for name in dict.fromkeys((stack.bucket, *attached)):
        again = permissions.deviations if name in attached else ()
        attachment = _attachment(stack, attached.get(name, AttachedBucket(name)), permissions)
        problems = [f"{reason}: attach it again with --deploy" for reason in again]
        if name == stack.parameters.get(REPORT_PARAMETER):
            problems.append(f"it is {REPORT_PARAMETER}, so no report is written: name another")
        yield replace(attachment, problems=(*attachment.problems, *problems))


def needs_rewriting(stack: Stack, bucket: AttachedBucket) -> bool:
    """Whether the permissions and the rule of an attached *bucket* must be written anew."""
    permissions, arn = Permissions.of(stack), bucket_arn(stack, bucket.name)
    rules = [rule for rule in permissions.rules if arn in rule.buckets]
    has_route = bucket.via is not Via.EVENTBRIDGE or bool(rules)
    return bool(permissions.deviations) or not (permissions.may_read(arn) and has_route)


def _attachment(stack: Stack, bucket: AttachedBucket, permissions: Permissions) -> Attachment:
    s3, name = stack.client("s3"), bucket.name
    if not exists(s3, name):
        return Attachment(name, bucket.via, (), ("the bucket does not exist",))
    configuration = configuration_of(s3, name)
    arn = bucket_arn(stack, name)
    match bucket.via:
        case Via.S3:
            keys, parts = _by_notification(stack, arn, bucket, configuration, permissions)
        case Via.EVENTBRIDGE:
            keys, parts = _by_rule(arn, bucket, configuration, permissions)
        case Via.SNS:
            topics = (e for e in notifications_in(configuration) if e.kind == "topic")
            keys = tuple(dict.fromkeys(str(topic.keys) for topic in topics))
            parts = {"no topic is notified": bool(keys)}
    parts["the hasher is not allowed to read it"] = permissions.may_read(arn)
    problems = tuple(problem for problem, is_there in parts.items() if not is_there)
    return Attachment(name, bucket.via, keys, problems)


def _by_notification(
    stack: Stack,
    arn: str,
    bucket: AttachedBucket,
    configuration: Mapping[str, Any],
    permissions: Permissions,
) -> tuple[tuple[str, ...], dict[str, bool]]:
    entries = notifications_in(configuration)
    notified = (str(entry.keys) for entry in entries if entry.target == stack.arrivals_queue_arn)
    missing = missing_events(configuration, stack.arrivals_queue_arn)
    remedy = "deploy the stack again" if creates(stack, bucket.name) else "attach it again"
    lost = f"no notification of {', '.join(missing)}: {remedy}"
    return tuple(dict.fromkeys(notified)), {  # CloudFormation has an entry for each event
        "no notification of created objects": CREATED not in missing,
        lost: bucket.created_only or not missing or CREATED in missing,
        "the queue's policy does not allow it": admits(permissions.queue, "s3.amazonaws.com", arn),
    }


def _by_rule(
    arn: str,
    bucket: AttachedBucket,
    configuration: Mapping[str, Any],
    permissions: Permissions,
) -> tuple[tuple[str, ...], dict[str, bool]]:
    rule = next((rule for rule in permissions.rules if arn in rule.buckets), None)
    events = () if bucket.created_only else DETAIL_TYPES
    return ("all keys",), {
        "EventBridge is off": sends_to_eventbridge(configuration),
        "no enabled rule includes it: attach it again": rule is not None,
        "the rule lacks deletions and restores: attach it again": (
            rule is None or set(events) <= set(rule.events)
        ),
        "the queue's policy does not allow the rule": (
            rule is None or admits(permissions.queue, "events.amazonaws.com", rule.arn)
        ),
    }


def _rules(stack: Stack) -> Iterator[Rule]:
    """Yield the enabled rules of the stack with the permissions of attached buckets."""
    name = access_stack_name(stack.name)
    if description_of(stack.connection, name) is None:
        return
    events = stack.connection.client("events")
    for resource in resources_of(stack.connection, name).values():
        if resource["ResourceType"] != "AWS::Events::Rule":
            continue
        try:
            rule: dict[str, Any] = events.describe_rule(Name=resource["PhysicalResourceId"])
        except events.exceptions.ResourceNotFoundException:
            continue
        if rule["State"] == "ENABLED":
            pattern = json.loads(rule["EventPattern"])
            yield Rule(rule["Arn"], pattern["resources"], pattern["detail-type"])


def _role_statements(stack: Stack, role: str | None) -> Iterator[Mapping[str, Any]]:
    if role is None:
        return
    iam = stack.connection.client("iam")
    for name in iam.list_role_policies(RoleName=role)["PolicyNames"]:
        document = iam.get_role_policy(RoleName=role, PolicyName=name)["PolicyDocument"]
        yield from statements_of(document)
    for policy in iam.list_attached_role_policies(RoleName=role)["AttachedPolicies"]:
        arn = policy["PolicyArn"]
        version = iam.get_policy(PolicyArn=arn)["Policy"]["DefaultVersionId"]
        entry = iam.get_policy_version(PolicyArn=arn, VersionId=version)["PolicyVersion"]
        yield from statements_of(entry["Document"])


def admits(queue: Sequence[Mapping[str, Any]], service: str, source_arn: str) -> bool:
    """Whether the statements of a *queue* admit messages of *service* on behalf of *source_arn*."""
    return any(
        service in admitted_services(statement)
        and any(fnmatchcase(source_arn, pattern) for pattern in _sources(statement))
        for statement in queue
    )


def admitted_services(statement: Mapping[str, Any]) -> Sequence[str]:
    """Return the services to which *statement* of a policy allows any action."""
    principal = statement.get("Principal")  # a denial may have NotPrincipal instead
    if statement["Effect"] != "Allow" or not isinstance(principal, dict):
        return ()
    return _listed(principal.get("Service", ()))


def statements_of(document: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    """Return the statements of a policy, which may be a single one."""
    statements: Any = document.get("Statement", [])
    return statements if isinstance(statements, list) else [statements]


def _sources(statement: Mapping[str, Any]) -> Sequence[str]:
    conditions = statement.get("Condition", {})
    return [
        arn
        for operator in ("ArnEquals", "ArnLike")
        for arn in _listed(conditions.get(operator, {}).get("aws:SourceArn", ()))
    ]


def _listed(value: Any) -> Sequence[str]:  # noqa: ANN401 - a policy's text or list
    return [value] if isinstance(value, str) else value
