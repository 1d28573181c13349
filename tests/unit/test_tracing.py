"""X-Ray is loaded when an invocation is sampled, and not before."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from contextlib import suppress
from typing import Any, Final

PROGRAM: Final = """
import os, sys
from concurrent.futures import ThreadPoolExecutor
from botocore.config import Config
from bucketsum.clients import client_of
from bucketsum.tracing import carried, traced_when_sampled

table = client_of("dynamodb", Config(retries={"total_max_attempts": 1}, connect_timeout=1))

pool = ThreadPoolExecutor(1) if "THREADS" in os.environ else None

def ask(key):
    try:
        table.get_item(TableName="digests", Key={"object": {"S": key}})
    except Exception as error:
        assert "Could not connect" in str(error), error

@traced_when_sampled
def lambda_handler(event, context):
    pool.submit(carried(ask), "a").result() if pool else ask("a")
    if event.get("fails"):
        raise ValueError("as asked")
    return "answer"

for number, sampled in enumerate(sys.argv[1:]):
    root = f"1-5759e988-bd862e3fe1be46a99427279{number}"
    os.environ["_X_AMZN_TRACE_ID"] = f"Root={root};Parent=53995c3f42cd8ad8;Sampled={sampled[0]}"
    try:
        assert lambda_handler({"fails": sampled.endswith("!")}, None) == "answer"
    except ValueError:
        assert sampled.endswith("!")
    print("aws_xray_sdk" in sys.modules)
"""


def invoked(*sampled: str, **env: str) -> tuple[list[str], dict[str, dict[str, Any]]]:
    """Invoke a handler, once for each.

    Returns whether X-Ray was loaded then, and what it was told: segments by name.
    """
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as daemon:
        daemon.bind(("127.0.0.1", 0))
        process = subprocess.run(
            [sys.executable, "-c", PROGRAM, *sampled],
            check=True,
            capture_output=True,
            text=True,
            env=os.environ
            | {
                "LAMBDA_TASK_ROOT": "/var/task",
                "AWS_XRAY_DAEMON_ADDRESS": f"127.0.0.1:{daemon.getsockname()[1]}",
                "AWS_ENDPOINT_URL_DYNAMODB": "http://127.0.0.1:1",
                "POWERTOOLS_SERVICE_NAME": "stack",
            }
            | env,
        )
        daemon.setblocking(False)
        segments = {}
        with suppress(BlockingIOError):
            while True:
                segment = json.loads(daemon.recv(65536).split(b"\n", 1)[1])
                assert segment["name"] not in segments
                segments[segment["name"]] = segment
    return process.stdout.split(), segments


def test_what_is_not_sampled_loads_nothing() -> None:
    """Invocations that X-Ray does not sample neither load its SDK nor tell it anything."""
    assert invoked("0", "0") == (["False", "False"], {})


def test_what_is_sampled_is_traced() -> None:
    """A first invocation that is sampled has its segment, its cold start, its calls of AWS."""
    loaded, segments = invoked("1")
    assert loaded == ["True"]
    segment, call = segments["## lambda_handler"], segments["dynamodb"]
    assert segment["annotations"] == {"ColdStart": True, "Service": "stack"}
    assert segment["trace_id"] == "1-5759e988-bd862e3fe1be46a994272790"
    assert segment["parent_id"] == "53995c3f42cd8ad8"
    assert call["parent_id"] == segment["id"]
    assert call["aws"]["operation"] == "GetItem"


def test_a_later_one_is_no_cold_start() -> None:
    """The first sampled invocation does not count as a cold start if it is warm."""
    loaded, segments = invoked("0", "1", "0")
    assert loaded == ["False", "True", "True"]
    segment = segments["## lambda_handler"]
    assert segment["annotations"]["ColdStart"] is False
    assert segment["trace_id"].endswith("1")


def test_an_exception_is_in_the_trace() -> None:
    """An error of the handler passes through and is recorded in the segment."""
    segment = invoked("1!")[1]["## lambda_handler"]
    assert segment["fault"] is True
    assert segment["cause"]["exceptions"][0]["message"] == "as asked"


def test_tracing_can_be_turned_off() -> None:
    """Powertools' own switch still holds where an invocation is sampled."""
    _, segments = invoked("1", POWERTOOLS_TRACE_DISABLED="true")
    assert segments == {}


def test_other_threads_are_part_of_the_trace() -> None:
    """AWS calls for objects read in parallel belong to their invocation's segment."""
    _, segments = invoked("1", THREADS="2")
    assert segments["dynamodb"]["parent_id"] == segments["## lambda_handler"]["id"]


def test_other_threads_are_not_traced_where_nothing_is() -> None:
    """Threads of an invocation that is not sampled tell X-Ray nothing, before and after one is."""
    loaded, segments = invoked("0", "1", "0", THREADS="2")
    assert loaded == ["False", "True", "True"]
    assert segments["dynamodb"]["trace_id"] == segments["## lambda_handler"]["trace_id"]
