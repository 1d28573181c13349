"""The template's roles and policies: their statements, and the actions of the code's calls."""

import importlib.metadata
import json
import re
from functools import cache
from pathlib import Path
from typing import Any, Final

import botocore.session
from botocore import xform_name
from tests.support.recorded_calls import listed
from tests.support.sam_template import TEMPLATE, load_template

RESOURCES: Final = load_template()["Resources"]
LIBRARY: Final = sorted((TEMPLATE.parent / "layers" / "bucketsum" / "bucketsum").rglob("*.py"))
LAB_LIBRARY: Final = sorted((TEMPLATE.parent / "layers" / "lab" / "bucketsum_lab").rglob("*.py"))
HANDLERS: Final = {
    path.stem: path
    for path in (*LIBRARY, *LAB_LIBRARY)
    if path.parent.name == "functions" and path.stem != "__init__"
}
"""Function → the module in a layer that has its handler."""
WRITES_LOGS: Final = {"logs:CreateLogStream", "logs:PutLogEvents"}


def statements_of(name: str) -> list[dict[str, Any]]:
    """All statements of a role or a policy: conditional ones, and those of policies apart."""
    properties = RESOURCES[name]["Properties"]
    policies = (
        properties.get("Policies", [properties])
        + managed_policies(name)
        + [
            resource["Properties"]
            for resource in RESOURCES.values()
            if resource["Type"] == "AWS::IAM::Policy"
            and {"Ref": name} in resource["Properties"]["Roles"]
        ]
    )
    return [
        statement["Fn::If"][1] if "Fn::If" in statement else statement
        for policy in policies
        for statement in policy["PolicyDocument"]["Statement"]
    ]


def managed_policies(role: str) -> list[dict[str, Any]]:
    """The managed policies of a role, without the one that all functions have in a VPC."""
    arns = RESOURCES[role]["Properties"].get("ManagedPolicyArns", [])
    named = [arn["Ref"] for arn in arns if isinstance(arns, list) and "Ref" in arn]
    return [RESOURCES[name]["Properties"] for name in named]


def resources_outside(role: str, own: str, other: str) -> list[str]:
    """Resources that the role may use and that are wildcards, not of *own*, or of *other*."""
    texts = [
        json.dumps(resource)
        for statement in statements_of(role)
        for resource in listed(statement["Resource"])
    ]
    return [t for t in texts if t == '"*"' or not re.search(own, t) or re.search(other, t)]


def allowed(role: str) -> set[str]:
    """The actions that the role allows."""
    return {action for statement in statements_of(role) for action in listed(statement["Action"])}


@cache
def action_of(service: str, method: str) -> str:
    """The name of a client's method as an action: ``s3``, ``get_object`` → ``s3:GetObject``.

    It allows HeadObject too.
    """
    names = botocore.session.get_session().get_service_model(service).operation_names
    [name] = [name for name in names if xform_name(name) == method]
    return f"{service}:{'GetObject' if name == 'HeadObject' else name}"


@cache
def known_actions() -> dict[str, Any]:
    """Service → what cfn-lint knows of its IAM actions; it does not look into SAM templates."""
    cfn_lint = Path(str(importlib.metadata.distribution("cfn-lint").locate_file("cfnlint")))
    data = cfn_lint / "data" / "AdditionalSpecs" / "Policies.json"
    known: dict[str, Any] = json.loads(data.read_bytes())
    return known
