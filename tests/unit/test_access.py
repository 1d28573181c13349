"""A function chooses Region, keys and endpoints as botocore does, without its session."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final, NoReturn

import botocore.session
import pytest
from botocore.loaders import Loader
from botocore.regions import EndpointResolver

from bucketsum.invocation import access
from bucketsum.invocation.clients import _session

KEYS: Final = {"AWS_ACCESS_KEY_ID": "AKID", "AWS_SECRET_ACCESS_KEY": "secret"}
LAMBDAS: Final = {
    **KEYS,
    "AWS_SESSION_TOKEN": "token",
    "AWS_DEFAULT_REGION": "eu-west-1",
    "AWS_REGION": "eu-west-1",
    "AWS_EXECUTION_ENV": "AWS_Lambda_python3.13",
    "AWS_LAMBDA_FUNCTION_MEMORY_SIZE": "512",
    "AWS_XRAY_CONTEXT_MISSING": "LOG_ERROR",
    "AWS_XRAY_DAEMON_ADDRESS": "169.254.100.1:2000",
}
COMMERCIAL: Final = "aws"


@pytest.fixture(autouse=True)
def _function(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    """The environment is a function's."""
    for name, value in LAMBDAS.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("HOME", str(tmp_path))
    _session.cache_clear()
    yield
    _session.cache_clear()


@pytest.mark.parametrize("token", ["token", ""])
def test_keys_and_region_are_botocores(token: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its session finds the same keys and the same Region in the environment."""
    monkeypatch.setenv("AWS_SESSION_TOKEN", token)
    session: Any = botocore.session.Session()
    ours: Any = access.credentials()
    theirs = session.get_credentials().get_frozen_credentials()
    assert tuple(ours.get_frozen_credentials()) == tuple(theirs)[:3]
    assert access.usual_region() == session.get_config_variable("region")


@pytest.mark.parametrize("service", ["s3", "dynamodb"])
def test_endpoints_are_botocores(service: str) -> None:
    """In every commercial Region they follow from the rule; elsewhere botocore says them."""
    resolver: Any = EndpointResolver(Loader().load_data("endpoints"))
    for partition in resolver.get_available_partitions():
        for region in resolver.get_available_endpoints(service, partition):
            url = access.usual_endpoint(service, region)
            hostname = resolver.construct_endpoint(service, region)["hostname"]
            assert url == (f"https://{hostname}" if partition == COMMERCIAL else None)


@pytest.mark.parametrize("name", ["AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_S3"])
def test_a_configured_endpoint_is_botocores(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A service's own URL goes before the URL of all services."""
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:1")
    monkeypatch.setenv(name, "http://127.0.0.1:2")
    region = "eu-west-1"
    for service in ("s3", "dynamodb"):
        theirs = botocore.session.Session().create_client(service).meta.endpoint_url
        assert access.usual_endpoint(service, region) == theirs
    assert access.s3_endpoint(region) == "http://127.0.0.1:2"
    assert access.aws_s3_endpoint(region) == "https://s3.eu-west-1.amazonaws.com"


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("AWS_PROFILE", "other"),
        ("AWS_CONFIG_FILE", __file__),
        ("AWS_USE_FIPS_ENDPOINT", "true"),
        ("AWS_USE_DUALSTACK_ENDPOINT", "true"),
        ("AWS_IGNORE_CONFIGURED_ENDPOINT_URLS", "true"),
        ("AWS_CONTAINER_CREDENTIALS_FULL_URI", "http://127.0.0.1/"),
        ("AWS_SECURITY_TOKEN", "another"),
        ("AWS_ACCOUNT_ID", "123456789012"),
        ("AWS_OF_THE_FUTURE", ""),
        ("AWS_ACCESS_KEY_ID", ""),
        ("AWS_SECRET_ACCESS_KEY", ""),
        ("AWS_DEFAULT_REGION", ""),
    ],
)
def test_any_other_environment_is_left_to_botocore(
    name: str, value: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No other variable that may change a client is ignored."""
    monkeypatch.setenv(name, value)
    assert access.usual_region() is None
    assert access.usual_endpoint("dynamodb", "eu-west-1") is None
    assert not isinstance(_answer(access.credentials), access.Keys)


def _answer(ask: Any) -> object:  # noqa: ANN401 - a function without arguments
    try:
        return ask()
    except botocore.exceptions.BotoCoreError as error:  # of a profile that is not there
        return error


@pytest.mark.parametrize("name", ["config", "credentials"])
def test_a_configuration_file_is_left_to_botocore(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file in the home folder may name endpoints."""
    monkeypatch.delenv("AWS_CONFIG_FILE")
    monkeypatch.delenv("AWS_SHARED_CREDENTIALS_FILE")
    (tmp_path / ".aws").mkdir()
    (tmp_path / ".aws" / name).write_text("[default]\nendpoint_url = http://127.0.0.1:1\n")
    assert access.usual_region() is None
    assert access.s3_endpoint("eu-west-1") == "http://127.0.0.1:1"


def test_a_user_without_a_home_has_no_files(monkeypatch: pytest.MonkeyPatch) -> None:
    """A container may run as a user whom nothing names: the function starts all the same."""

    def unknown(_: int) -> NoReturn:
        raise KeyError

    for name in ("HOME", "AWS_CONFIG_FILE", "AWS_SHARED_CREDENTIALS_FILE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("pwd.getpwuid", unknown)
    assert access.usual_region() == "eu-west-1"
