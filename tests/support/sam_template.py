"""template.yaml as tests read it: intrinsic functions in their long form."""

import json
from functools import cache
from pathlib import Path
from typing import Any, Final

import yaml
from mypy_boto3_dynamodb import DynamoDBClient

TEMPLATE: Final = Path(__file__).parents[2] / "template.yaml"

_KEYS: Final = ("AttributeDefinitions", "BillingMode", "GlobalSecondaryIndexes", "KeySchema")
_OWN_NAMES: Final = ("Ref", "Condition")  # these two have no ``Fn::`` in their long form


class _TemplateLoader(yaml.CSafeLoader):
    """YAML with CloudFormation's short forms: ``!Ref X`` → ``{"Ref": "X"}``."""


def _intrinsic(loader: _TemplateLoader, name: str, node: yaml.Node) -> dict[str, Any]:
    value: Any
    if isinstance(node, yaml.ScalarNode):
        value = loader.construct_scalar(node)
    elif isinstance(node, yaml.SequenceNode):
        value = loader.construct_sequence(node, deep=True)
    elif isinstance(node, yaml.MappingNode):
        value = loader.construct_mapping(node, deep=True)
    else:
        raise TypeError(f"YAML has scalars, sequences and mappings, not {node!r}")
    if name == "GetAtt" and isinstance(value, str):
        value = value.split(".", 1)
    return {name if name in _OWN_NAMES else f"Fn::{name}": value}


_TemplateLoader.add_multi_constructor("!", _intrinsic)


def parsed_template(text: str) -> dict[str, Any]:
    """A template as it stands."""
    template: dict[str, Any] = _TemplateLoader(text).get_single_data()
    return template


@cache
def _as_json() -> str:
    template = parsed_template(TEMPLATE.read_text(encoding="utf-8"))
    for resource in template["Resources"].values():
        if resource["Type"] == "AWS::Serverless::Function":
            own = resource["Properties"]
            resource["Properties"] = _merged(template["Globals"]["Function"], own)
    return json.dumps(template)


def _merged(common: Any, own: Any) -> Any:  # noqa: ANN401 - values of a template
    """*own* on top of *common*, as SAM merges ``Globals``."""
    if isinstance(common, dict) and isinstance(own, dict):
        both = {key: _merged(common[key], own[key]) for key in common.keys() & own.keys()}
        return own | {key: common[key] for key in common if key not in own} | both
    return common + own if isinstance(common, list) and isinstance(own, list) else own


def load_template() -> dict[str, Any]:
    """The whole template, with ``Globals`` in each function; each call makes a new one."""
    template: dict[str, Any] = json.loads(_as_json())
    return template


def properties(name: str) -> dict[str, Any]:
    """The properties of one resource."""
    resource: dict[str, Any] = load_template()["Resources"][name]["Properties"]
    return resource


def create_table(dynamodb: DynamoDBClient, resource: str, name: str) -> None:
    """Make the table *resource* of the template, with its keys and indexes, under *name*."""
    dynamodb.create_table(TableName=name, **_schema(resource))


@cache
def _schema(table: str) -> dict[str, Any]:
    return {name: value for name, value in properties(table).items() if name in _KEYS}
