"""The parts of template.yaml that serve buckets, as a stack in moto."""

from __future__ import annotations

import json
from typing import Any, Final

import boto3
from tests.support.sam_template import load_template

NAME: Final = "sums"
INBOX: Final = f"{NAME}-123456789012-us-east-1"
PHOTOS: Final = "photos"

_PARTS: Final = (
    "ArrivalsQueue",
    "BackfillQueue",
    "BackfillsTable",
    "DeadLetterQueue",
    "DigestsTable",
    "HasherLogGroup",
    "HasherRole",
    "InboxBucket",
    "LongObjectsQueue",
    "ObjectCreatedRule",
)
_OUTPUTS: Final = ("BucketName", "ArrivalsQueueArn", "ArrivalsQueueUrl")


def _template() -> dict[str, Any]:
    """The parts of template.yaml that serve buckets; moto runs no SAM transform."""
    template = load_template()
    resources = {part: template["Resources"][part] for part in _PARTS}
    resources["InboxBucket"].pop("DependsOn")
    for resource in resources.values():  # moto does not know RetainExceptOnCreate
        resource.pop("DeletionPolicy", None)
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


def create_stack() -> None:
    """Create it with the default of each parameter."""
    template = _template()
    boto3.client("cloudformation").create_stack(
        StackName=NAME,
        TemplateBody=json.dumps(template),
        Parameters=[  # moto knows no previous value of those that are left to their defaults
            {"ParameterKey": name, "ParameterValue": str(parameter["Default"])}
            for name, parameter in template["Parameters"].items()
        ],
    )


def parameters() -> dict[str, str]:
    """The values of the stack's parameters."""
    [stack] = boto3.client("cloudformation").describe_stacks(StackName=NAME)["Stacks"]
    return {p["ParameterKey"]: p["ParameterValue"] for p in stack["Parameters"]}
