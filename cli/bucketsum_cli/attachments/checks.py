"""The buckets of a stack, each with the parts that are missing on the path of its events."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from bucketsum.events.notifications import DETAIL_TYPES
from bucketsum_cli.attachments.change import partition_of, queue_arn_of
from bucketsum_cli.attachments.notifications import (
    configuration_of,
    notifications_in,
    sends_to_eventbridge,
)
from bucketsum_cli.attachments.queue_notification import CREATED, missing_events
from bucketsum_cli.aws.served_buckets import ServedBuckets, Via, bucket_arn
from bucketsum_cli.aws.stack import Stack, physical_ids
from bucketsum_cli.stacks.bucket_contents import exists

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence


@dataclass(frozen=True, slots=True)
class Attachment:
    """A bucket that a stack hashes.

    Attributes:
        via: Route of its events.
        keys: The keys that are hashed, a text for each notification.
        problems: Missing parts; empty if its objects are hashed.
    """

    bucket: str
    via: Via
    keys: tuple[str, ...]
    problems: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Permissions:
    """The deployed policies and the rule, as far as buckets are concerned.

    Attributes:
        queue: Statements of the arrivals queue's policy.
        role: Statements of the policies of the hasher's role.
        rule_arn: The rule for EventBridge; None if there is none, or it is disabled.
        rule_buckets: ARNs of the buckets in its pattern.
        rule_events: EventBridge's names of the events in its pattern.
    """

    queue: Sequence[Mapping[str, Any]]
    role: Sequence[Mapping[str, Any]]
    rule_arn: str | None
    rule_buckets: Sequence[str]
    rule_events: Sequence[str]

    @classmethod
    def of(cls, stack: Stack) -> Permissions:
        """Read the policies and the rule of a stack.

        Raises:
            ClientError: AWS refused.
        """
        url = stack.arrivals_queue_url
        attributes = stack.client("sqs").get_queue_attributes(
            QueueUrl=url, AttributeNames=["Policy"]
        )
        policy = attributes.get("Attributes", {}).get("Policy")
        resources = physical_ids(stack.connection, stack.name)
        rule = _rule(stack, resources.get("ObjectCreatedRule"))
        pattern = json.loads(rule["EventPattern"]) if rule else {}
        return cls(
            queue=statements_of(json.loads(policy)) if policy else (),
            role=tuple(_role_statements(stack, resources.get("HasherRole"))),
            rule_arn=rule["Arn"] if rule else None,
            rule_buckets=pattern.get("resources", ()),
            rule_events=pattern.get("detail-type", ()),
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
    """Yield the stack's own bucket, then the attached ones.

    Raises:
        ClientError: AWS refused.
    """
    served = ServedBuckets.of(stack.parameters)
    permissions = Permissions.of(stack)
    for bucket in dict.fromkeys((stack.bucket, *served.attached)):
        yield _attachment(stack, bucket, served.via(bucket), permissions)


def _attachment(stack: Stack, bucket: str, via: Via, permissions: Permissions) -> Attachment:
    s3 = stack.client("s3")
    if not exists(s3, bucket):
        return Attachment(bucket, via, (), ("the bucket does not exist",))
    configuration = configuration_of(s3, bucket)
    arn = bucket_arn(bucket, partition_of(stack))
    if via is Via.S3:
        queue_arn = queue_arn_of(stack)
        notified = (
            str(notification.keys)
            for notification in notifications_in(configuration)
            if notification.target == queue_arn
        )
        keys = tuple(dict.fromkeys(notified))  # CloudFormation has an entry for each event
        missing = missing_events(configuration, queue_arn)
        lost = f"no notification of {', '.join(missing)}: {_remedy(stack, bucket)}"
        parts = {
            "no notification of created objects": CREATED not in missing,
            lost: not missing or CREATED in missing,
            "the queue's policy does not allow it": admits(
                permissions.queue, "s3.amazonaws.com", arn
            ),
        }
    else:
        keys = ("all keys",)
        rule = permissions.rule_arn
        parts = {
            "EventBridge is off": sends_to_eventbridge(configuration),
            "no enabled rule includes it": arn in permissions.rule_buckets,
            "the rule lacks deletions and restores: deploy the stack again": (
                set(DETAIL_TYPES) <= set(permissions.rule_events) or not permissions.rule_events
            ),
            "the queue's policy does not allow the rule": rule is not None
            and admits(permissions.queue, "events.amazonaws.com", rule),
        }
    parts["the hasher is not allowed to read it"] = permissions.may_read(arn)
    problems = tuple(problem for problem, is_there in parts.items() if not is_there)
    return Attachment(bucket, via, keys, problems)


def _remedy(stack: Stack, bucket: str) -> str:
    """Return the way to notify the queue of deletions and restores in *bucket* too."""
    is_own = bucket == stack.bucket and not ServedBuckets.of(stack.parameters).existing
    return "deploy the stack again" if is_own else "attach it again"


def _rule(stack: Stack, name: str | None) -> dict[str, Any] | None:
    """Return the rule for EventBridge; None if there is none, or it is disabled."""
    if name is None:
        return None
    rule: dict[str, Any] = stack.connection.client("events").describe_rule(Name=name)
    return rule if rule["State"] == "ENABLED" else None


def _role_statements(stack: Stack, role: str | None) -> Iterator[Mapping[str, Any]]:
    if role is None:
        return
    iam = stack.connection.client("iam")
    for name in iam.list_role_policies(RoleName=role)["PolicyNames"]:
        document = iam.get_role_policy(RoleName=role, PolicyName=name)["PolicyDocument"]
        yield from statements_of(document)


def admits(queue: Sequence[Mapping[str, Any]], service: str, source_arn: str) -> bool:
    """Whether the statements of a *queue* admit messages of *service* on behalf of *source_arn*."""
    return any(
        service in admitted_services(statement) and source_arn in _sources(statement)
        for statement in queue
    )


def admitted_services(statement: Mapping[str, Any]) -> Sequence[str]:
    """Return the services that *statement* of a policy allows something."""
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
