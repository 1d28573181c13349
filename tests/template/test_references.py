"""Names in template.yaml lead somewhere, and never in a circle."""

import re
import tomllib
from graphlib import CycleError
from typing import Any, Final

import pytest
from tests.support.sam_template import TEMPLATE, load_template
from tests.template.references import (
    PSEUDO_PARAMETERS,
    conditions_of,
    creation_order,
    dependencies,
    nodes,
    referred,
)

LONGEST_REGION: Final = "ap-southeast-1"


def resources() -> dict[str, Any]:
    """The template's resources."""
    resources: dict[str, Any] = load_template()["Resources"]
    return resources


def test_references_lead_somewhere() -> None:
    """Every Ref, GetAtt and Sub names a resource, a parameter or a pseudo parameter."""
    template = load_template()
    known = {*template["Resources"], *template["Parameters"], *PSEUDO_PARAMETERS}
    assert referred(template) <= known


def test_parameters_and_conditions_are_used() -> None:
    """No parameter and no condition is left over, and every condition that is used exists."""
    template = load_template()
    assert set(template["Parameters"]) <= referred(template)
    assert conditions_of(template["Resources"] | template["Outputs"]) == set(template["Conditions"])


def test_nothing_waits_for_itself() -> None:
    """There is an order in which CloudFormation can create everything."""
    assert set(creation_order(resources())) == set(resources())


def test_cycle_of_bucket_and_queue_policy_would_be_found() -> None:
    """A queue policy that refers to the bucket, which waits for that policy, is a cycle."""
    mutated = resources()
    statement = mutated["ArrivalsQueuePolicy"]["Properties"]["PolicyDocument"]["Statement"][0]
    statement["Condition"]["ArnLike"]["aws:SourceArn"] = {"Fn::GetAtt": ["InboxBucket", "Arn"]}
    with pytest.raises(CycleError):
        creation_order(mutated)


def test_bucket_waits_for_the_queue_policy() -> None:
    """S3 sends its test message the moment the bucket is made: the policy must be there."""
    graph = dependencies(resources())
    assert {"ArrivalsQueuePolicy", "ArrivalsQueue"} <= graph["InboxBucket"]


def bucket_arns() -> set[str]:
    """Every S3 ARN that a policy constructs instead of referring to the bucket."""
    texts = [inner for key, inner in nodes(resources()) if key == "Fn::Sub"]
    return {
        text
        for text in texts
        if isinstance(text, str) and text.startswith("arn:${AWS::Partition}:s3:::")
    }


def test_policies_name_the_bucket_that_is_made() -> None:
    """Policies construct exactly the name that the bucket is given, or take the existing one's."""
    name = resources()["InboxBucket"]["Properties"]["BucketName"]["Fn::Sub"]
    prefix = "arn:${AWS::Partition}:s3:::"
    reports = f"{prefix}${{ReportBucket}}/${{AWS::StackName}}/*"
    assert bucket_arns() - {f"{prefix}*", reports} == {  # any bucket may notify the queue
        f"{prefix}{bucket}{objects}"
        for bucket in (name, "${ExistingBucketName}")
        for objects in ("", "/*")
    }


@pytest.mark.parametrize("prefix", ["", "serverlessrepo-"])
def test_bucket_name_is_legal(prefix: str) -> None:
    """S3 allows the bucket's name with samconfig.toml's stack name, and from the repository."""
    samconfig = tomllib.loads((TEMPLATE.parent / "samconfig.toml").read_text())
    name = resources()["InboxBucket"]["Properties"]["BucketName"]["Fn::Sub"]
    values = {
        "${AWS::StackName}": prefix + samconfig["default"]["deploy"]["parameters"]["stack_name"],
        "${AWS::AccountId}": "123456789012",
        "${AWS::Region}": LONGEST_REGION,
    }
    for variable, value in values.items():
        name = name.replace(variable, value)
    assert re.fullmatch(r"[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]", name)
