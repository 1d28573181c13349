"""Local workers are isolated, and have Lambda's CPU share and memory."""

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from tests.support.zip_maker import zip_of

from bucketsum_cli.aws.stack import Stack
from bucketsum_cli.emulator import launcher
from bucketsum_cli.emulator.emulator_state import LocalProject
from bucketsum_cli.machine.worker import MEMORY_MB_PER_CPU

Invoke = Callable[..., dict[str, Any]]

SPIN = """
import time
def handler(event, context):
    wall, cpu = time.perf_counter(), time.process_time()
    while time.perf_counter() - wall < event["seconds"]:
        pass
    return {"share": (time.process_time() - cpu) / (time.perf_counter() - wall)}
"""
TAKE_MEMORY = """
def handler(event, context):
    return {"bytes": len(bytearray(event["bytes"]))}
"""


@pytest.fixture
def invoke(stack: Stack) -> Iterator[Invoke]:
    """Make a function of some code, call it once, and take it away."""
    client = stack.client("lambda")
    configuration = client.get_function_configuration(FunctionName=stack.function)
    names: list[str] = []

    def call(code: str, event: Any, memory_mb: int = 512) -> dict[str, Any]:  # noqa: ANN401
        name = f"worker-test-{len(names)}"
        client.create_function(
            FunctionName=name,
            Runtime=configuration["Runtime"],
            Role=configuration["Role"],
            Handler="app.handler",
            Code={"ZipFile": zip_of({"app.py": code.encode()})},
            MemorySize=memory_mb,
            Timeout=60,
        )
        names.append(name)
        answer = client.invoke(FunctionName=name, Payload=json.dumps(event))
        body = json.loads(answer["Payload"].read())
        return {"error": body} if answer.get("FunctionError") else {"value": body}

    yield call
    for name in names:
        client.delete_function(FunctionName=name)


def _importing(module: str) -> str:
    return f"import {module}\ndef handler(event, context):\n    return {module}.__name__\n"


@pytest.mark.parametrize("module", ["rich", "aws_lambda_powertools", "bucketsum", "moto"])
def test_what_lambda_does_not_have_cannot_be_imported(invoke: Invoke, module: str) -> None:
    """A dependency that is missing from the layer fails here as it would on AWS."""
    answer = invoke(_importing(module), {})

    assert f"No module named '{module}'" in str(answer["error"])


def test_cpu_share_follows_memory(invoke: Invoke, project: LocalProject) -> None:
    """A function gets memory / 1,769 MB of a vCPU and no more."""
    if not launcher.lambda_likeness(project)[0]:
        pytest.skip("control groups cannot be written here")

    for memory_mb in (128, 512):
        share = invoke(SPIN, {"seconds": 1.0}, memory_mb)["value"]["share"]

        entitled = memory_mb / MEMORY_MB_PER_CPU
        assert share < entitled * 1.25, f"{memory_mb} MB had {share:.3f} of a vCPU"


def test_a_function_that_takes_more_than_its_memory_is_killed(
    invoke: Invoke, project: LocalProject
) -> None:
    """Memory beyond the function's size is refused as on AWS: by its death."""
    if not launcher.lambda_likeness(project)[0]:
        pytest.skip("control groups cannot be written here")

    assert invoke(TAKE_MEMORY, {"bytes": 50_000_000}, 128) == {"value": {"bytes": 50_000_000}}
    assert "error" in invoke(TAKE_MEMORY, {"bytes": 500_000_000}, 128)
