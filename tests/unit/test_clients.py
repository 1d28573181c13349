"""Clients that are made faster are the same clients."""

from __future__ import annotations

from typing import Any

import boto3
import pytest
from botocore.config import Config
from botocore.exceptions import UnknownServiceError

from bucketsum.clients import SERVICES, client_of

CONFIG = Config(connect_timeout=7, retries={"mode": "standard", "total_max_attempts": 4})


def made(service: Any) -> Any:  # noqa: ANN401 - any of our clients
    """A client of ours."""
    return client_of(service, CONFIG)


@pytest.mark.parametrize("service", SERVICES)
@pytest.mark.parametrize("region", ["us-east-1", "eu-central-1", "cn-north-1", "us-gov-west-1"])
def test_a_client_is_boto3s_own(
    service: Any,  # noqa: ANN401 - as above
    region: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """boto3 is the oracle: the same operations, shapes, endpoint and configuration."""
    monkeypatch.setenv("AWS_DEFAULT_REGION", region)
    ours, theirs = made(service), boto3.Session().client(service, config=CONFIG)
    assert ours.meta.endpoint_url == theirs.meta.endpoint_url
    assert ours.meta.region_name == theirs.meta.region_name == region
    assert ours.meta.config.connect_timeout == 7
    assert ours.meta.config.retries == theirs.meta.config.retries
    models = ours.meta.service_model, theirs.meta.service_model
    assert models[0].operation_names == models[1].operation_names
    assert models[0].shape_names == models[1].shape_names
    assert models[0].metadata == models[1].metadata
    assert ours.meta.method_to_api_mapping == theirs.meta.method_to_api_mapping


def test_the_environment_says_where_a_service_is(monkeypatch: pytest.MonkeyPatch) -> None:
    """Endpoints are taken from the environment, as boto3 takes them."""
    monkeypatch.setenv("AWS_ENDPOINT_URL_DYNAMODB", "http://127.0.0.1:1")
    assert made("dynamodb").meta.endpoint_url == "http://127.0.0.1:1"


def test_other_services_are_refused() -> None:
    """What the library has no model for is named, not guessed."""
    with pytest.raises(UnknownServiceError, match="sns"):
        made("sns")
