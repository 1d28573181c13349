"""The stack `NAME-attached`: permissions of the attached buckets, and rules for their events.

It is apart from the stack that it serves, so that no deployment of that one, with whatever saved
parameters, takes anything away from an attached bucket (docs/decisions/0011).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final, TypeAlias

from botocore.exceptions import ClientError

from bucketsum_cli.aws.stack import Stack
from bucketsum_cli.aws.stack_changes import changing_stack, deleted_stack
from bucketsum_cli.aws.stack_description import description_of, physical_ids, resources_of
from bucketsum_cli.buckets.attachments.access_template import (
    LISTERS,
    READERS,
    compact,
    description,
    template_of,
)
from bucketsum_cli.buckets.served_buckets import (
    AttachedBucket,
    access_stack_name,
    access_template_of,
    attached_to,
)
from bucketsum_cli.terminal.errors import CannotDoError
from bucketsum_cli.terminal.live_progress import notes

Buckets: TypeAlias = Mapping[str, AttachedBucket]

_DONE: Final = ("CREATE_COMPLETE", "UPDATE_COMPLETE", "UPDATE_COMPLETE_CLEANUP_IN_PROGRESS")
_ATTEMPTS: Final = 5
_OTHER_MARK: Final = "B"
"""In the names of all resources, if they replace equal ones that somebody changed by hand."""


def update_access(stack: Stack, change: Callable[[Buckets], Buckets]) -> bool:
    """Apply *change* to the attached buckets of *stack*; returns whether there was a change.

    Permissions that are written already are written anew, under other names: somebody took them
    away by hand.

    Raises:
        CannotDoError: They do not fit into one stack, or CloudFormation could not do it and
            restored the old state, or others change them all the time; the text says why.
    """
    changed = _update_access(stack, change)
    keep_access(stack, change)
    return changed


def keep_access(stack: Stack, change: Callable[[Buckets], Buckets]) -> None:
    """Apply *change* again if another command, which ran at the same time, has undone it.

    Raises:
        CannotDoError: As `update_access`.
    """
    for _ in range(_ATTEMPTS):
        buckets = attached_to(stack)
        if change(buckets) == buckets:
            return
        _update_access(stack, change)
    raise CannotDoError(
        f"the attached buckets of {stack.name} are being changed by somebody else at the same "
        "time; run the command again when that has ended"
    )


def _update_access(stack: Stack, change: Callable[[Buckets], Buckets]) -> bool:
    name = access_stack_name(stack.name)
    existing = description_of(stack.connection, name)
    if existing and existing.get("Description") != description(stack):
        raise CannotDoError(
            f"the stack {name}, whose name the permissions of attached buckets need, is another "
            "one: nothing was changed; rename one of the two"
        )
    buckets = change(attached_to(stack))
    with notes().status("updating the permissions ...") as shown:
        if buckets:
            template = _new_template(stack, buckets.values())
            statuses = _written(stack, name, template, new=not existing)
        elif existing:
            statuses = deleted_stack(stack.connection, name)
        else:
            return False
        changed = False
        for status in statuses:
            changed = True
            shown.update(f"stack {name}: {status}")
    return changed


def deviations(stack: Stack, buckets: Buckets) -> Iterator[str]:
    """Yield what `update_access` must write anew for *buckets*, the attached ones."""
    name = access_stack_name(stack.name)
    deployed = access_template_of(stack.connection, stack.name)
    if deployed is None:
        return
    wanted = template_of(stack, buckets.values(), _mark_of(deployed))
    if deployed["Resources"] != wanted["Resources"]:
        yield f"the stack {name} is not as this deployment of {stack.name} needs it"
    resources = resources_of(stack.connection, name)
    roles = physical_ids(stack.connection, stack.name)
    for role, kind in (*((role, "Read") for role in READERS), *((r, "List") for r in LISTERS)):
        policies = {
            resource["PhysicalResourceId"]
            for logical_id, resource in resources.items()
            if logical_id.startswith(kind)
        }
        pages = stack.connection.client("iam").get_paginator("list_attached_role_policies")
        attached = pages.paginate(RoleName=roles[role]).search("AttachedPolicies[].PolicyArn")
        if policies - {*attached}:
            yield f"the role {roles[role]} lacks a policy of the stack {name}"


def _mark_of(deployed: Mapping[str, Any] | None) -> str:
    names = (deployed or {}).get("Resources", ())
    is_other = any(name.startswith(f"ReadObjects{_OTHER_MARK}") for name in names)
    return _OTHER_MARK if is_other else ""


def _new_template(stack: Stack, buckets: Iterable[AttachedBucket]) -> dict[str, Any]:
    """Return the template of *buckets*, which is never equal to the deployed one."""
    deployed = access_template_of(stack.connection, stack.name)
    listed, mark = list(buckets), _mark_of(deployed)
    template = template_of(stack, listed, mark)
    if template == deployed:
        template = template_of(stack, listed, "" if mark else _OTHER_MARK)
    return template


def _written(stack: Stack, name: str, template: Mapping[str, Any], *, new: bool) -> Iterator[str]:
    """Create or update the stack *name*; yield its status until it is done."""
    cloudformation: Any = stack.client("cloudformation")
    write = cloudformation.create_stack if new else cloudformation.update_stack
    main: Any = description_of(stack.connection, stack.name) or {}
    options: Any = {field: main[field] for field in ("Tags", "RoleARN") if main.get(field)}
    options |= {"TemplateBody": compact(template), "Capabilities": ["CAPABILITY_IAM"]}
    if new:
        options["OnFailure"] = "DELETE"
    try:
        written = write(StackName=name, **options)
    except ClientError as error:
        if "No updates are to be performed" in error.response["Error"].get("Message", ""):
            return
        raise
    failure = f"CloudFormation could not write the stack {name}"
    yield from changing_stack(stack.connection, written["StackId"], _DONE, failure)
