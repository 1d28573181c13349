"""Results that botocore and moto would compute again for each session, client and stack."""

import copy
import json
import re
import sys
from collections.abc import Callable, Iterable
from datetime import datetime
from functools import cache
from importlib import import_module
from random import getrandbits
from types import ModuleType, SimpleNamespace
from typing import Any, Final
from weakref import WeakKeyDictionary

import botocore.hooks
import botocore.regions
import botocore.session
import botocore.useragent
import botocore.utils
import pytest
from botocore.auth import STREAMING_UNSIGNED_PAYLOAD_TRAILER
from botocore.client import ClientCreator
from botocore.endpoint_provider import EndpointProvider
from botocore.hooks import EventAliaser
from botocore.model import ServiceModel
from tests.support.moto_dynamodb import share_dynamodb

_USED: Final = frozenset({
    "athena", "cloudformation", "cloudwatch", "dynamodb", "events", "glue", "iam", "kms", "lambda",
    "logs", "s3", "sqs", "stepfunctions", "sts",
})  # fmt: skip
"""Services whose patterns are tried first."""


def share(patch: pytest.MonkeyPatch) -> None:
    """Compute each of them once in this process.

    A session would look at 140 handlers and their events' names for 6 ms; a client would make its
    class and parse its endpoint rules for 3 to 20 ms. boto3's default session stays, whoever starts
    moto.
    """
    accepts = cache(botocore.hooks.accepts_kwargs)  # of a client's methods, those of its class
    by_function: Any = lambda call: accepts(getattr(call, "__func__", call))  # noqa: E731 - no types
    patch.setattr(botocore.hooks, "accepts_kwargs", by_function)
    nodes: Any = botocore.hooks.NodeList  # three lists, 400 times in a session's hooks
    patch.setattr(nodes, "__copy__", lambda node: nodes(*map(list, node)))
    sanitize = "sanitize_user_agent_string_component"  # looks at each character, at each request
    patch.setattr(botocore.useragent, sanitize, cache(getattr(botocore.useragent, sanitize)))
    # it would look at the environment again for each request's text
    rebuild = "rebuild_and_replace_user_agent_handler"
    ignore: Any = lambda *_, **__: None  # noqa: E731 - older versions have no such method
    agent = botocore.useragent.UserAgentString
    patch.setattr(agent, rebuild, ignore, raising=False)
    patch.setattr(agent, "to_string", _text_once(agent.to_string))
    parse = "_parse_timestamp_with_tzinfo"
    patch.setattr(botocore.utils, parse, _shared_times(getattr(botocore.utils, parse)))
    patch.setattr(EventAliaser, "_alias_event_name", _shared_alias_name())
    patch.setattr(ClientCreator, "_create_methods", _shared_methods())
    patch.setattr(ClientCreator, "_load_service_model", _shared_service_model())
    patch.setattr(botocore.regions, "EndpointProvider", _shared_endpoint_provider())
    if moto := sys.modules.get("moto.cloudformation.models"):  # which takes 1 s to import
        # every template here is JSON, which moto would parse as YAML
        patch.setattr(moto.Stack, "parse_template", staticmethod(json.loads))
    if "moto" in sys.modules:
        _share_of_moto(patch)


def _share_of_moto(patch: pytest.MonkeyPatch) -> None:
    config = import_module("moto.core.config").default_user_config
    patch.setitem(config["core"], "reset_boto3_session", False)
    sqs = import_module("moto.sqs.models")
    patch.setattr(sqs, "camelcase_to_underscores", cache(sqs.camelcase_to_underscores))
    # it would count the messages of the queue for each message, to know its retention period
    patch.setattr(sqs.SQSBackend, "is_message_valid_based_on_retention_period", _is_retained)
    # it would make all of a service's addresses, and list its methods, at each request
    backend = import_module("moto.core.base_backend").BaseBackend
    patch.setattr(backend, "urls", property(_shared_urls(backend.urls.fget)))
    responses, list_methods = import_module("moto.core.responses"), "method_names_from_class"
    patch.setattr(responses, list_methods, cache(getattr(responses, list_methods)))
    serialize = import_module("moto.core.serialize")
    for picker in (serialize.AttributePicker, serialize.XFormedAttributePicker):
        patch.setattr(picker, "get_possible_keys", _shared_keys(picker.get_possible_keys))
    # it would compare each address with the patterns of 150 services
    index = import_module("moto.backend_index")
    patterns = sorted(index.backend_url_patterns, key=lambda named: named[0] not in _USED)
    patch.setattr(index, "backend_url_patterns", patterns)
    # it would copy all versions in a bucket, with their contents, to mark the latest in a listing
    s3 = SimpleNamespace(copy=copy.copy, deepcopy=lambda versions: versions)
    patch.setattr(import_module("moto.s3.models"), "copy", s3)
    if crt := sys.modules.get("botocore.crt.auth"):
        patch.setattr(crt.CrtSigV4Auth, "add_auth", _unsigned(crt))
    share_dynamodb(patch)
    stubber = import_module("moto.core.botocore_stubber").BotocoreStubber
    patch.setattr(stubber, "process_request", _with_descriptions(stubber.process_request))
    patch.setattr(responses, "gen_amzn_requestid_long", _request_id)


class _Descriptions(dict[tuple[str, ...], Any]):
    """Answers about the stacks of a backend, and of its copies by `moto_state`."""

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[int]]:
        """Be itself in a copy."""
        _DESCRIPTIONS[id(self)] = self
        return _known_descriptions, (id(self),)


_DESCRIPTIONS: Final[dict[int, _Descriptions]] = {}


def _known_descriptions(number: int) -> _Descriptions:
    return _DESCRIPTIONS[number]


def _with_descriptions(process: Callable[..., Any]) -> Callable[..., Any]:
    """Describe a stack, as each command does, once until a request changes stacks: 2 to 8 ms."""
    get_backend = import_module("moto.backends").get_backend
    is_description = re.compile("Action=(DescribeStacks|GetTemplate|ListStackResources)&").match
    is_cloudformation = re.compile(
        r"https://cloudformation\.([a-z0-9-]+)\.amazonaws\.com/"
    ).fullmatch

    def process_request(stubber: object, request: Any) -> Any:  # noqa: ANN401 - botocore's and moto's
        place = is_cloudformation(request.url)
        if not place:
            return process(stubber, request)
        backend = get_backend("cloudformation")["123456789012"][place[1]]
        if not is_description(request.body):
            answer = process(stubber, request)
            backend.descriptions = _Descriptions()
            return answer
        known = vars(backend).get("descriptions", {})
        key = (request.body, *(stack.status for stack in backend.stacks.values()))
        if key not in known:
            known[key] = process(stubber, request)
        status, headers, body = known[key]
        return status, dict(headers), body

    return process_request


def _request_id(headers: dict[str, str]) -> str:
    """Choose all of it at once, and not 52 letters."""
    headers["x-amzn-requestid"] = f"{getrandbits(200):052x}"
    return headers["x-amzn-requestid"]


def _unsigned(crt: ModuleType) -> Callable[[Any, Any], None]:
    """Sign no request to moto, which reads the credentials' name, and looks at no signature."""
    # ruff: noqa: SLF001 - in the place of a method
    stubber = import_module("moto.core.models").botocore_stubber
    sign, of_headers = crt.CrtSigV4Auth.add_auth, (crt.CrtSigV4Auth, crt.CrtS3SigV4Auth)

    def add_auth(auth: Any, request: Any) -> None:  # noqa: ANN401 - botocore's, without types
        is_of_moto = stubber.enabled and ".amazonaws.com/" in request.url
        if not (is_of_moto and auth.credentials and type(auth) in of_headers):
            sign(auth, request)
            return
        auth._modify_request_before_signing(request)
        if auth._is_streaming_checksum_payload(request):
            request.headers["X-Amz-Content-SHA256"] = STREAMING_UNSIGNED_PAYLOAD_TRAILER
        key = auth.credentials.access_key
        scope = f"{key}/20261128/{auth._region_name}/{auth._service_name}/aws4_request"
        request.headers["Authorization"] = f"AWS4-HMAC-SHA256 Credential={scope}, Signature=0"

    return add_auth


def _shared_times(parse: Callable[[Any, Any], datetime]) -> Callable[[Any, Any], datetime]:
    """A text that names its time zone has the same meaning for ever."""
    known = cache(parse)

    def parse_once(value: Any, tzinfo: Any) -> datetime:  # noqa: ANN401 - as botocore's
        is_text = isinstance(value, str) and value.endswith(("Z", "GMT"))
        return (known if is_text else parse)(value, tzinfo)

    return parse_once


def _shared_alias_name() -> Callable[[EventAliaser, str], str]:
    names: dict[str, str] = {}
    alias_name: Any = vars(EventAliaser)["_alias_event_name"]

    def known_alias(aliaser: EventAliaser, name: str) -> str:
        return names.get(name) or names.setdefault(name, alias_name(aliaser, name))

    return known_alias


def _shared_methods() -> Callable[[ClientCreator, ServiceModel], dict[str, object]]:
    methods: dict[tuple[str, str], dict[str, object]] = {}
    create_methods: Any = vars(ClientCreator)["_create_methods"]

    def known_methods(creator: ClientCreator, model: ServiceModel) -> dict[str, object]:
        key = (model.service_name, model.api_version)
        if key not in methods:
            methods[key] = create_methods(creator, model)
        return dict(methods[key])

    return known_methods


def _shared_service_model() -> Callable[..., ServiceModel]:
    """A model's shapes are made when they are used first."""
    models: dict[int, ServiceModel] = {}
    load: Any = vars(ClientCreator)["_load_service_model"]

    def known_model(creator: ClientCreator, *service: str | None) -> ServiceModel:
        model = load(creator, *service)
        return models.setdefault(id(model._service_description), model)

    return known_model


def _shared_endpoint_provider() -> Callable[..., EndpointProvider]:
    """Rules and partitions are read once, so that their identity stands for their content."""
    providers: dict[tuple[int, int], tuple[EndpointProvider, Any, Any]] = {}

    def known_provider(ruleset_data: Any, partition_data: Any, **options: Any) -> EndpointProvider:  # noqa: ANN401 - JSON
        key = (id(ruleset_data), id(partition_data))
        if key not in providers:  # with the data, or other data could get their identity
            provider = EndpointProvider(ruleset_data, partition_data, **options)
            providers[key] = provider, ruleset_data, partition_data
        return providers[key][0]

    return known_provider


def _shared_urls(urls_of: Callable[[Any], dict[str, Any]]) -> Callable[[Any], object]:
    """A backend's addresses follow from its class."""
    known: dict[type[Any], dict[str, Any]] = {}

    def known_urls(backend: object) -> dict[str, Any]:
        kind = type(backend)
        return known.get(kind) or known.setdefault(kind, urls_of(backend))

    return known_urls


def _shared_keys(keys_of: Callable[[Any, Any], Iterable[str]]) -> Callable[..., Iterable[str]]:
    """An attribute's names follow from its shape and the class of the object that has it."""
    known: dict[tuple[object, ...], list[str]] = {}

    def known_keys(picker: Any, context: Any) -> Iterable[str]:  # noqa: ANN401 - moto has no types
        kind = (context.key, context.shape, type(context.obj), *picker.alias_providers)
        if kind not in known:
            known[kind] = list(keys_of(picker, context))
        return known[kind]

    return known_keys


def _text_once(to_string: Callable[[Any], str]) -> Callable[[Any], str]:
    """A client's user agent, without the features that a request uses."""
    known: WeakKeyDictionary[Any, str] = WeakKeyDictionary()  # of copies too
    return lambda agent: known.get(agent) or known.setdefault(agent, to_string(agent))


def _is_retained(*_: object) -> bool:
    """A queue keeps messages for days."""
    return True
