"""X-Ray is loaded when an invocation is sampled, and not before."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from typing import TYPE_CHECKING, Any, Final

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Invoke = Callable[..., tuple[list[str], dict[str, dict[str, Any]]]]

PROGRAM: Final = """
import json, os, sys
from concurrent.futures import ThreadPoolExecutor
from botocore.config import Config
from bucketsum.invocation.clients import client_of
from bucketsum.invocation.tracing import carried, traced_when_sampled

table = client_of("dynamodb", Config(retries={"total_max_attempts": 1}, connect_timeout=60))

def ask(key):
    try:
        table.get_item(TableName="digests", Key={"object": {"S": key}})
    except Exception as error:
        assert "Could not connect" in str(error), error

def invoke(invocations):
    pool = ThreadPoolExecutor(1) if "THREADS" in os.environ else None

    @traced_when_sampled
    def lambda_handler(event, context):
        pool.submit(carried(ask), "a").result() if pool else ask("a")
        if event.get("fails"):
            raise ValueError("as asked")
        return "answer"

    for number, sampled in enumerate(invocations):
        root = f"1-5759e988-bd862e3fe1be46a99427279{number}"
        os.environ["_X_AMZN_TRACE_ID"] = f"Root={root};Parent=53995c3f42cd8ad8;Sampled={sampled[0]}"
        try:
            assert lambda_handler({"fails": sampled.endswith("!")}, None) == "answer"
        except ValueError:
            assert sampled.endswith("!")
        yield "aws_xray_sdk" in sys.modules

for line in sys.stdin:
    if os.fork() == 0:  # a process that has just started
        variables, invocations = json.loads(line)
        os.environ.update(variables)
        sent = []
        sys.addaudithook(lambda event, _: event == "socket.sendto" and sent.append(event))
        loaded = [str(loaded) for loaded in invoke(invocations)]
        print(json.dumps([loaded, len(sent)]), flush=True)
        os._exit(0)
    if os.wait()[1]:
        print("[[], 0]", flush=True)
"""


@pytest.fixture(scope="module")
def prepared() -> Iterator[subprocess.Popen[str]]:
    """A process that has imported what every invocation imports, and forks for each test."""
    variables = {
        "LAMBDA_TASK_ROOT": "/var/task",
        "AWS_ENDPOINT_URL_DYNAMODB": "http://127.0.0.1:1",
        "POWERTOOLS_SERVICE_NAME": "stack",
    }
    with subprocess.Popen(
        [sys.executable, "-c", PROGRAM],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ | variables,
    ) as process:
        yield process


@pytest.fixture
def invoked(prepared: subprocess.Popen[str]) -> Invoke:
    """Invokes a handler of a new process, once for each argument.

    Returns whether X-Ray was loaded then, and what it was told: segments by name.
    """

    def invoke(*sampled: str, **env: str) -> tuple[list[str], dict[str, dict[str, Any]]]:
        assert prepared.stdin
        assert prepared.stdout
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as daemon:
            daemon.bind(("127.0.0.1", 0))
            address = f"127.0.0.1:{daemon.getsockname()[1]}"
            variables = {"AWS_XRAY_DAEMON_ADDRESS": address} | env
            prepared.stdin.write(f"{json.dumps([variables, sampled])}\n")
            prepared.stdin.flush()
            loaded, sent = json.loads(prepared.stdout.readline())
            daemon.settimeout(60)  # the kernel may deliver later what was sent before
            segments = {}
            for _ in range(sent):
                segment = json.loads(daemon.recv(65536).split(b"\n", 1)[1])
                assert segment["name"] not in segments
                segments[segment["name"]] = segment
            daemon.setblocking(False)
            with pytest.raises(BlockingIOError):
                daemon.recv(1)
        return loaded, segments

    return invoke


def test_what_is_not_sampled_loads_nothing(invoked: Invoke) -> None:
    """Invocations that X-Ray does not sample neither load its SDK nor tell it anything."""
    assert invoked("0", "0") == (["False", "False"], {})


def test_what_is_sampled_is_traced(invoked: Invoke) -> None:
    """A first invocation that is sampled has its segment, its cold start, its calls of AWS."""
    loaded, segments = invoked("1")
    assert loaded == ["True"]
    segment, call = segments["## lambda_handler"], segments["dynamodb"]
    assert segment["annotations"] == {"ColdStart": True, "Service": "stack"}
    assert segment["trace_id"] == "1-5759e988-bd862e3fe1be46a994272790"
    assert segment["parent_id"] == "53995c3f42cd8ad8"
    assert call["parent_id"] == segment["id"]
    assert call["aws"]["operation"] == "GetItem"


def test_a_later_one_is_no_cold_start(invoked: Invoke) -> None:
    """The first sampled invocation does not count as a cold start if it is warm."""
    loaded, segments = invoked("0", "1", "0")
    assert loaded == ["False", "True", "True"]
    segment = segments["## lambda_handler"]
    assert segment["annotations"]["ColdStart"] is False
    assert segment["trace_id"].endswith("1")


def test_an_exception_is_in_the_trace(invoked: Invoke) -> None:
    """An error of the handler passes through and is recorded in the segment."""
    segment = invoked("1!")[1]["## lambda_handler"]
    assert segment["fault"] is True
    assert segment["cause"]["exceptions"][0]["message"] == "as asked"


def test_tracing_can_be_turned_off(invoked: Invoke) -> None:
    """Powertools' own switch still holds where an invocation is sampled."""
    _, segments = invoked("1", POWERTOOLS_TRACE_DISABLED="true")
    assert segments == {}


def test_other_threads_are_part_of_the_trace(invoked: Invoke) -> None:
    """AWS calls for objects read in parallel belong to their invocation's segment."""
    _, segments = invoked("1", THREADS="2")
    assert segments["dynamodb"]["parent_id"] == segments["## lambda_handler"]["id"]


def test_other_threads_are_not_traced_where_nothing_is(invoked: Invoke) -> None:
    """Threads of an invocation that is not sampled tell X-Ray nothing, before and after one is."""
    loaded, segments = invoked("0", "1", "0", THREADS="2")
    assert loaded == ["False", "True", "True"]
    assert segments["dynamodb"]["trace_id"] == segments["## lambda_handler"]["trace_id"]
