"""Clients that are made faster are the same clients."""

import json
import subprocess
import sys
from itertools import product
from typing import Any

import pytest
from botocore.config import Config
from botocore.exceptions import UnknownServiceError
from botocore.loaders import Loader
from botocore.regions import EndpointResolver
from botocore.retries.standard import ExponentialBackoff, RetryContext

from bucketsum.invocation.clients import (
    PROMPT,
    SERVICES,
    SILENT_SECONDS,
    _OwnModelLoader,
    client_of,
)
from bucketsum.invocation.deadline import LAST_BEGIN_SECONDS, STOP_BEFORE_END_SECONDS
from bucketsum.long_objects.slice_reader import END_BEFORE_SECONDS

CONFIG = Config(connect_timeout=7, retries={"mode": "standard", "total_max_attempts": 4})


def made(service: Any) -> Any:  # noqa: ANN401 - any of our clients
    """A client of ours."""
    return client_of(service, CONFIG)


_ENDPOINT = ("hostname", "partition", "dnsSuffix")
REGIONS = ("us-east-1", "eu-central-1", "cn-north-1", "us-gov-west-1")
DESCRIBE = """
import json, os, sys
import boto3
from botocore.config import Config
from bucketsum.invocation.clients import SERVICES, client_of
config = Config(connect_timeout=7, retries={"mode": "standard", "total_max_attempts": 4})

def described(client):
    meta, model = client.meta, client.meta.service_model
    return [meta.endpoint_url, meta.region_name, meta.config.connect_timeout, meta.config.retries,
        list(model.operation_names), list(model.shape_names), model.metadata,
        meta.method_to_api_mapping, meta.partition, meta.config.signature_version]

for region in sys.argv[1:]:
    os.environ["AWS_DEFAULT_REGION"] = region
    session = boto3.Session()
    for service in SERVICES:
        ours, theirs = client_of(service, config), session.client(service, config=config)
        print(json.dumps([region, service, described(ours), described(theirs)]))
"""
"""In a process of its own: moto, which other tests import, adds shapes to boto3's models."""


def test_a_silent_service_is_given_up_before_the_invocation_ends() -> None:
    """The slicer has time for two requests, the batch for one and for its failed messages."""
    config: Any = PROMPT
    attempts = config.retries["total_max_attempts"]
    pauses = ExponentialBackoff(random=lambda: 1.0)
    waits = [pauses.delay_amount(RetryContext(attempt_number=n)) for n in range(1, attempts)]
    seconds = attempts * (config.connect_timeout + config.read_timeout) + sum(waits)
    assert seconds == SILENT_SECONDS
    assert 2 * SILENT_SECONDS + STOP_BEFORE_END_SECONDS < END_BEFORE_SECONDS
    assert SILENT_SECONDS + 1000 * 0.010 < LAST_BEGIN_SECONDS


def test_a_client_is_boto3s_own() -> None:
    """boto3 is the oracle: the same operations, shapes, endpoint and configuration."""
    process = subprocess.run(
        [sys.executable, "-c", DESCRIBE, *REGIONS], capture_output=True, text=True, check=True
    )
    clients = [json.loads(line) for line in process.stdout.splitlines()]
    assert [client[:2] for client in clients] == [list(pair) for pair in product(REGIONS, SERVICES)]
    for region, _, ours, theirs in clients:
        assert ours == theirs
        assert ours[1:3] == [region, 7]


@pytest.mark.parametrize("service", SERVICES)
def test_every_region_has_botocores_endpoint(service: str) -> None:
    """The list of endpoints that botocore has is the oracle for the rule that takes its place."""
    listed = EndpointResolver(Loader().load_data("endpoints"))
    by_rule = EndpointResolver(_OwnModelLoader().load_data_with_path("endpoints")[0])
    regions = [
        region
        for partition in listed.get_available_partitions()
        for region in listed.get_available_endpoints(service, partition)
    ]
    assert len(regions) > 40
    for region in (*regions, "eu-new-7", "cn-new-7"):
        ours = by_rule.construct_endpoint(service, region) or {}
        theirs = listed.construct_endpoint(service, region) or {}
        assert [ours.get(key) for key in _ENDPOINT] == [theirs[key] for key in _ENDPOINT]


def test_variants_of_endpoints_are_botocores(monkeypatch: pytest.MonkeyPatch) -> None:
    """FIPS endpoints are exceptions to the rule, so they come from botocore's list."""
    monkeypatch.setenv("AWS_USE_FIPS_ENDPOINT", "true")
    theirs = Loader().load_data("endpoints")
    assert _OwnModelLoader().load_data_with_path("endpoints")[0] == theirs


def test_the_environment_says_where_a_service_is(monkeypatch: pytest.MonkeyPatch) -> None:
    """Endpoints are taken from the environment, as boto3 takes them."""
    monkeypatch.setenv("AWS_ENDPOINT_URL_DYNAMODB", "http://127.0.0.1:1")
    assert made("dynamodb").meta.endpoint_url == "http://127.0.0.1:1"


def test_other_services_are_refused() -> None:
    """An unsupported service is refused by name."""
    with pytest.raises(UnknownServiceError, match="sns"):
        made("sns")
