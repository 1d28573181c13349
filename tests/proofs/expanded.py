"""The templates as CloudFormation gets them: after SAM's transform, with values."""

import re
from types import SimpleNamespace
from typing import Any, Final

from cfnlint.template.transforms._sam import Transform
from tests.support.sam_template import TEMPLATE, parsed_template

from bucketsum_cli.buckets.attachments.access_template import template_of
from bucketsum_cli.buckets.served_buckets import AttachedBucket, Via

ROOT: Final = TEMPLATE.parent
TOOLS: Final = ROOT / ".venv" / "proofs"
ACCOUNT: Final = "123456789012"
REGION: Final = "us-east-1"
STACK: Final = "bucketsum"
KEY: Final = f"arn:aws:kms:{REGION}:{ACCOUNT}:key/11111111-2222-3333-4444-555555555555"

_VALUES: Final = {
    "AWS::AccountId": ACCOUNT, "AWS::NoValue": None, "AWS::Partition": "aws",
    "AWS::Region": REGION, "AWS::StackName": STACK, "AWS::URLSuffix": "amazonaws.com",
    "KmsKeyArn": KEY, "InventoryBucketArn": "arn:aws:s3:::inventories",
}  # fmt: skip
_ARNS: Final = {
    "AWS::DynamoDB::Table": f"arn:aws:dynamodb:{REGION}:{ACCOUNT}:table/",
    "AWS::IAM::Role": f"arn:aws:iam::{ACCOUNT}:role/",
    "AWS::Lambda::Function": f"arn:aws:lambda:{REGION}:{ACCOUNT}:function:",
    "AWS::Logs::LogGroup": f"arn:aws:logs:{REGION}:{ACCOUNT}:log-group:",
    "AWS::S3::Bucket": "arn:aws:s3:::",
    "AWS::SQS::Queue": f"arn:aws:sqs:{REGION}:{ACCOUNT}:",
    "AWS::StepFunctions::StateMachine": f"arn:aws:states:{REGION}:{ACCOUNT}:stateMachine:",
}
_NAMES: Final = ("BucketName", "LogGroupName", "StateMachineName")


class Deployed:
    """A template in which every condition is met, with a key and a bucket of inventories.

    Attributes:
        resources: Logical id → resource, with intrinsic functions.
    """

    def __init__(self, text: str) -> None:
        transform = Transform("template.yaml", parsed_template(text), REGION)
        if errors := transform.transform_template():
            raise ValueError(errors)
        template: dict[str, Any] = transform.template()
        self.resources: dict[str, Any] = template["Resources"]
        parameters = template["Parameters"]
        self._values = {
            name: parameter["Default"] for name, parameter in parameters.items()
        } | _VALUES

    def of_type(self, kind: str) -> dict[str, Any]:
        """Logical id → properties, evaluated, of the resources of a type."""
        chosen = {
            name: resource for name, resource in self.resources.items() if resource["Type"] == kind
        }
        return {name: self.value(resource["Properties"]) for name, resource in chosen.items()}

    def arn(self, name: str) -> str:
        """The ARN of a resource; its name is its logical id, unless the template gives one."""
        kind, properties = self.resources[name]["Type"], self.resources[name]["Properties"]
        given = next((properties[n] for n in _NAMES if n in properties), None)
        own = self.value(given) if given else name.lower() if kind.endswith("Bucket") else name
        return f"{_ARNS[kind]}{own}" + (":*" if kind.endswith("LogGroup") else "")

    def value(self, node: Any) -> Any:  # noqa: ANN401, PLR0911 - any value; a case for each function
        """*node* without intrinsic functions, of which each ``Fn::If`` has its first branch."""
        match node:
            case list():
                return [part for part in map(self.value, node) if part is not None]
            case {"Fn::If": [_, first, _]}:
                return self.value(first)
            case {"Fn::Split": [separator, text]}:
                return self.value(text).split(separator)
            case {"Fn::Sub": str(text)}:
                return re.sub(r"\$\{([\w:.]+)}", lambda name: str(self._named(name[1])), text)
            case {"Fn::GetAtt": [name, attribute]}:
                return self._named(f"{name}.{attribute}")
            case {"Ref": name}:
                return self._named(name)
            case dict():
                return {name: self.value(part) for name, part in node.items()}
        return node

    def _named(self, reference: str) -> Any:  # noqa: ANN401 - a value of a template
        name, _, attribute = reference.partition(".")
        if name in self._values:
            return self._values[name]
        kind = self.resources[name]["Type"]
        if kind.endswith("StateMachine"):
            return self.arn(name) if attribute != "Name" else self.arn(name).rpartition(":")[2]
        return self.arn(name) if attribute == "Arn" else name


def planted(text: str, fault: str) -> str:
    """The template with *fault* in place of *text*, which must be there.

    Raises:
        ValueError: It is not, so the fault would be none.
    """
    template = TEMPLATE.read_text(encoding="utf-8")
    if text not in template:
        raise ValueError(f"template.yaml has no {text!r}")
    return template.replace(text, fault, 1)


def attached() -> dict[str, Any]:
    """The template that `bucketsum attach` deploys, with a bucket of each kind."""
    stack: Any = SimpleNamespace(
        name=STACK,
        outputs={"HasherRoleName": ""},
        parameters={},
        arrivals_queue_arn=f"arn:aws:sqs:{REGION}:{ACCOUNT}:ArrivalsQueue",
        dead_letter_queue_url="/DeadLetterQueue",
    )
    every_event = AttachedBucket("bucketsum-example", Via.EVENTBRIDGE, kms_key=KEY)
    created_only = AttachedBucket("created-only", Via.EVENTBRIDGE, created_only=True)
    return template_of(stack, [every_event, created_only])
