"""moto's DynamoDB: its JSON passes as it is, and its expressions are parsed once."""

import re
from collections.abc import Callable, Iterable
from functools import cache, partial
from importlib import import_module
from pickle import dumps, loads
from typing import Any, Final

import botocore.parsers
import pytest

# ruff: noqa: SLF001 - in the place of methods

_VALUE: Final = "AttributeValue"
_SIMPLE: Final = frozenset({"S", "N", "BOOL", "NULL", "SS", "NS"})
"""Types of values that are the same in JSON."""


def share_dynamodb(patch: pytest.MonkeyPatch) -> None:
    """Let a request take half of its time."""
    stubber = import_module("moto.core.botocore_stubber").BotocoreStubber
    patch.setattr(stubber, "process_request", _straight(stubber.process_request))
    # both would look for ten types in each value
    serializer = import_module("moto.core.serialize").BaseJSONSerializer
    patch.setattr(serializer, "_serialize_type_map", _as_written(serializer._serialize_type_map))
    parser: Any = botocore.parsers.BaseJSONParser
    patch.setattr(parser, "_handle_map", _as_read(parser._handle_map))
    # a tree is copied before values are put into it
    updates = import_module("moto.dynamodb.parsing.expressions").UpdateExpressionParser
    patch.setattr(updates, "make", cache(updates.make))
    validators = import_module("moto.dynamodb.parsing.validators")
    patch.setattr(validators, "deepcopy", lambda tree: loads(dumps(tree)))  # noqa: S301 - our own
    traverser = import_module("moto.dynamodb.parsing.ast_nodes").DepthFirstTraverser
    patch.setattr(traverser, "nodes_to_be_processed", _shared_kinds(traverser))
    conditions = import_module("moto.dynamodb.comparisons").ConditionExpressionParser
    first_node = cache(partial(conditions._lex_one_node, conditions))
    patch.setattr(conditions, "_lex_one_node", lambda _, text: first_node(text))


def _straight(process: Callable[..., Any]) -> Callable[..., Any]:
    """Pass DynamoDB's JSON on; moto would make a request of WSGI, and of that a JSON again."""
    responses = import_module("moto.core.responses")
    handler_class = import_module("moto.dynamodb.responses").DynamoHandler
    parser = import_module("moto.core.parse").PROTOCOL_PARSERS["json"]
    is_dynamodb = re.compile(r"https://dynamodb\.([a-z0-9-]+)\.amazonaws\.com/").fullmatch

    def process_request(stubber: object, request: Any) -> Any:  # noqa: ANN401 - botocore's and moto's
        place = is_dynamodb(request.url)
        if not place:
            return process(stubber, request)
        handler = handler_class()
        handler.headers = {}
        for name in ("X-Amz-Target", "Content-Type"):
            text = request.headers[name]
            handler.headers[name] = text.decode() if isinstance(text, bytes) else text
        handler.querystring, handler.region, handler.partition = {}, place[1], "aws"
        handler.current_account = "123456789012"
        handler.response_headers = {"date": responses.http_date()}
        model = responses.get_service_model("dynamodb")
        operation = model.operation_model(handler._get_action())
        handler.params = parser(operation, map_type=handler.PROTOCOL_PARSER_MAP_TYPE).parse(
            {"body": request.body, "headers": {}}
        )
        return handler.call_action()

    return process_request


def _as_written(serialize: Callable[..., None]) -> Callable[..., None]:
    def serialize_map(self: object, serialized: Any, value: Any, shape: Any, key: str) -> None:  # noqa: ANN401 - moto's
        if shape.value.name == _VALUE and _is_json(value.values()):
            serialized[key] = value
        else:
            serialize(self, serialized, value, shape, key)

    return serialize_map


def _as_read(parse: Callable[..., object]) -> Callable[..., object]:
    def parse_map(self: object, shape: Any, value: Any) -> object:  # noqa: ANN401 - botocore's
        is_json = shape.value.name == _VALUE and _is_json(value.values())
        return value if is_json else parse(self, shape, value)

    return parse_map


def _is_json(values: Iterable[dict[str, Any]]) -> bool:
    """Whether nothing in *values* is binary."""
    return all(
        kind in _SIMPLE
        or (kind == "M" and _is_json(inner.values()))
        or (kind == "L" and _is_json(inner))
        for value in values
        for kind, inner in value.items()
    )


def _shared_kinds(traverser: Any) -> Callable[[object], object]:  # noqa: ANN401 - moto's
    """The kinds of nodes follow from the traverser's class."""
    kinds_of, known = traverser.nodes_to_be_processed, dict[type, object]()
    return lambda self: known.get(type(self)) or known.setdefault(type(self), kinds_of(self))
