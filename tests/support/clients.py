"""Clients that tests share: making one takes longer than most requests to moto."""

from functools import cache
from typing import Any

import boto3


@cache
def shared_client(service: str, endpoint: str | None = None) -> Any:  # noqa: ANN401 - any client
    """A client that nobody changes, in a session of its own."""
    session: Any = boto3.Session(region_name="us-east-1")  # the stubs want literals
    return session.client(service, endpoint_url=endpoint)
