"""The runtime client of awslambdaric, which is compiled there, for a Python without its wheel."""

import http.client
import os

_INVOCATION = "/2018-06-01/runtime/invocation/"
_DEADLINE = "Lambda-Runtime-Deadline-Ms"


def initialize_client(_user_agent: str) -> None:
    """Connections are opened for each request."""


def next() -> tuple[bytes, dict[str, str | int]]:  # noqa: A001 - awslambdaric's name
    """Wait for the next event."""
    event, headers = _requested("GET", "next", b"")
    return event, headers | {_DEADLINE: int(headers[_DEADLINE])}


def post_invocation_result(request_id: str, body: bytes, *_: object) -> None:
    """Answer an event."""
    _requested("POST", f"{request_id}/response", body)


def post_error(request_id: str, body: str, *_: object) -> None:
    """Answer an event with an error."""
    _requested("POST", f"{request_id}/error", body.encode())


def _requested(method: str, path: str, body: bytes) -> tuple[bytes, dict[str, str]]:
    connection = http.client.HTTPConnection(os.environ["AWS_LAMBDA_RUNTIME_API"])
    connection.request(method, _INVOCATION + path, body)
    answer = connection.getresponse()
    return answer.read(), dict(answer.headers)
