"""The parts of template.yaml that serve buckets, as a stack in moto."""

import json
from typing import Any, Final

import boto3
import pytest
from moto.iam.models import ManagedPolicy
from tests.cli.permissions import as_fake
from tests.support.sam_template import load_template

NAME: Final = "sums"
INBOX: Final = f"{NAME}-123456789012-us-east-1"
PHOTOS: Final = "photos"
TAGS: Final[list[Any]] = [{"Key": "cost-centre", "Value": "archive"}]
DEPLOYER: Final = "arn:aws:iam::123456789012:role/deployer"
"""As organizations demand them of each stack."""

_PARTS: Final = (
    "ArrivalsQueue",
    "BackfillQueue",
    "BackfillsTable",
    "DeadLetterQueue",
    "DigestsTable",
    "EnqueuerLogGroup",
    "EnqueuerRole",
    "HasherLogGroup",
    "HasherRole",
    "InboxBucket",
    "LongObjectsQueue",
    "SlicerLogGroup",
    "SlicerRole",
)
_OUTPUTS: Final = (
    "BucketName", "ArrivalsQueueArn", "ArrivalsQueueUrl", "DeadLetterQueueUrl", "HasherRoleName",
    "SlicerRoleName", "EnqueuerRoleName", "DigestsTableName",
)  # fmt: skip


def _template() -> dict[str, Any]:
    """The parts of template.yaml that serve buckets; moto runs no SAM transform."""
    template = load_template()
    resources = {part: template["Resources"][part] for part in _PARTS}
    resources["InboxBucket"].pop("DependsOn")
    for resource in resources.values():  # moto does not know RetainExceptOnCreate
        resource.pop("DeletionPolicy", None)
        resource["Properties"].pop("ManagedPolicyArns", None)  # it leaves nulls in their documents
    outputs = {
        name: output if name in _OUTPUTS else {"Value": name}
        for name, output in template["Outputs"].items()
    }
    return {
        "Parameters": template["Parameters"],
        "Conditions": template["Conditions"],
        "Resources": resources,
        "Outputs": outputs,
    }


def complete_moto(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let moto's CloudFormation update and delete managed policies, as AWS's does."""

    def update(
        original_resource: ManagedPolicy, cloudformation_json: dict[str, Any], **_: str
    ) -> ManagedPolicy:
        document = json.dumps(cloudformation_json["Properties"]["PolicyDocument"])
        with as_fake():
            boto3.client("iam").create_policy_version(
                PolicyArn=original_resource.arn, PolicyDocument=document, SetAsDefault=True
            )
        return original_resource

    def detach(arn: str, *_: object) -> None:
        iam = boto3.client("iam")
        with as_fake():
            for role in iam.list_entities_for_policy(PolicyArn=arn)["PolicyRoles"]:
                iam.detach_role_policy(RoleName=role["RoleName"], PolicyArn=arn)

    def delete(policy: ManagedPolicy, *_: str) -> None:
        detach(policy.arn)

    monkeypatch.setattr(ManagedPolicy, "update_from_cloudformation_json", update)
    monkeypatch.setattr(ManagedPolicy, "delete_from_cloudformation_json", detach)
    monkeypatch.setattr(ManagedPolicy, "delete", delete, raising=False)


def create_stack() -> None:
    """Create it with the default of each parameter."""
    template = _template()
    boto3.client("cloudformation").create_stack(
        StackName=NAME,
        TemplateBody=json.dumps(template),
        Tags=TAGS,
        RoleARN=DEPLOYER,
        Parameters=[  # moto knows no previous value of those that are left to their defaults
            {"ParameterKey": name, "ParameterValue": str(parameter["Default"])}
            for name, parameter in template["Parameters"].items()
        ],
    )

    _permit(NAME)


def _permit(stack: str) -> None:
    """Give the hasher's role its own policy: moto's CloudFormation writes it as Python's text."""
    statement = {
        "Effect": "Allow",
        "Action": ["s3:GetObject", "s3:GetObjectVersion"],
        "Resource": [f"arn:aws:s3:::{INBOX}/*"],
    }
    iam = boto3.client("iam")
    for role in iam.list_roles()["Roles"]:
        if role["RoleName"].startswith(f"{stack}-HasherRole-"):
            iam.put_role_policy(
                RoleName=role["RoleName"],
                PolicyName="hash-objects",
                PolicyDocument=json.dumps({"Version": "2012-10-17", "Statement": [statement]}),
            )


def parameters() -> dict[str, str]:
    """The values of the stack's parameters."""
    [stack] = boto3.client("cloudformation").describe_stacks(StackName=NAME)["Stacks"]
    return {p["ParameterKey"]: p["ParameterValue"] for p in stack["Parameters"]}
