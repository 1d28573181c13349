"""Deploy to the local emulator, one deployment at a time, and prove that the stack works."""

from __future__ import annotations

import fcntl
import hashlib
import json
import time
import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final

from bucketsum_cli.aws.stack import Stack
from bucketsum_cli.aws.stack_lookup import find_local_stack
from bucketsum_cli.emulator import emulator_state, launcher
from bucketsum_cli.emulator.emulator_state import LocalProject
from bucketsum_cli.emulator.interpreter import newest_interpreter
from bucketsum_cli.emulator.sam import Sam, template_parameters
from bucketsum_cli.selftest.scratch import Scratch
from bucketsum_cli.terminal import output
from bucketsum_cli.terminal.errors import CannotDoError
from bucketsum_cli.terminal.live_progress import spinner

if TYPE_CHECKING:
    from mypy_boto3_lambda import LambdaClient


PROOF_SECONDS: Final = 60


def bring_up(
    project: LocalProject, chosen: Mapping[str, str], *, lambda_network: bool = False
) -> Stack:
    """Deploy the template with the parameters *chosen*, and prove that the stack works.

    An emulator that already runs keeps its network. If a step fails, an emulator that this call
    started is stopped.

    Raises:
        CannotDoError: A step failed; the message says which, with the end of its log.
    """
    launcher.require_parts()
    interpreter = newest_interpreter()
    template = project.folder / "template.yaml"
    if not template.is_file():
        raise CannotDoError(f"there is no clone of bucketsum around {Path.cwd()}: change into one")
    parameters = template_parameters(template, interpreter, chosen)
    try:
        aws = emulator_state.running(project)
        started_here = False
    except CannotDoError:
        started_here = True
        stop(project)  # remove the leftovers of a killed one
        with _step(f"local emulator, workers on Python 3.{interpreter.minor}"):
            aws = launcher.start(project, interpreter, lambda_network=lambda_network)
    try:
        return _deployed(Sam(project, aws, interpreter, parameters))
    except BaseException:
        if started_here:
            stop(project)
        raise


def _deployed(sam: Sam) -> Stack:
    with _step("sam build"):
        sam.build()
    with _step("sam deploy"):
        sam.deploy()
    stack = find_local_stack(sam.project)
    correct_mappings(stack.client("lambda"))
    with _step("a first object's row"):
        require_start(stack)
        prove(stack)
    return stack


@contextmanager
def locked(project: LocalProject) -> Iterator[None]:
    """Keep other commands from starting or stopping the emulator of *project* meanwhile.

    The system releases the lock when this process ends, in whatever way.

    Raises:
        CannotDoError: Another command holds it.
    """
    project.home.mkdir(parents=True, exist_ok=True)
    with (project.home / "lock").open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise CannotDoError(
                "another `bucketsum local` is running here; wait for it, or end it with Ctrl-C"
            ) from None
        yield


def stop(project: LocalProject) -> bool:
    """Stop the emulator, showing a message; returns whether it was running."""
    with spinner("stopping ..."):
        return launcher.stop(project)


@contextmanager
def _step(name: str) -> Iterator[None]:
    """Show that the step *name* is running, and how long it took."""
    started = time.monotonic()
    with spinner(f"{name} ..."):
        yield
    output.note(f"✓ {name} {time.monotonic() - started:.1f} s", "green")


def correct_mappings(client: LambdaClient) -> None:
    """Convert the concurrency of all event source mappings in the Region to a number.

    ministack keeps the template's ``!Ref`` of a number parameter as a text, and then stops
    polling every queue. On AWS this call would change nothing.
    """
    for mapping in client.list_event_source_mappings()["EventSourceMappings"]:
        maximum = mapping["ScalingConfig"]["MaximumConcurrency"]
        client.update_event_source_mapping(
            UUID=mapping["UUID"], ScalingConfig={"MaximumConcurrency": int(maximum)}
        )


def require_start(stack: Stack) -> None:
    """Invoke the hasher with an empty batch.

    Raises:
        CannotDoError: It does not start; the message has its reason.
    """
    answer = stack.client("lambda").invoke(FunctionName=stack.function, Payload=b'{"Records": []}')
    if "FunctionError" in answer:
        payload = json.loads(answer["Payload"].read() or "{}")
        raise CannotDoError(
            "the stack is deployed, but the function does not start with these parameters: "
            f"{payload.get('errorMessage', answer['FunctionError'])}"
        )


def prove(stack: Stack, seconds: float = PROOF_SECONDS) -> None:
    """Put an object, wait for its row, and delete both.

    Raises:
        CannotDoError: No row, or a wrong one: the deployment succeeded but does not work.
    """
    scratch, content = Scratch(stack, seconds), uuid.uuid4().bytes
    try:
        row = scratch.row(scratch.put("proof", content))
    except CannotDoError as error:
        raise CannotDoError(
            f"the stack is deployed, but an object put into {stack.bucket} was not hashed within "
            f"{seconds:.0f} s; see `bucketsum local logs`"
        ) from error
    finally:
        scratch.clean_up()
    expected = hashlib.sha1(content, usedforsecurity=False).hexdigest()
    if row.sha1 != expected:
        raise CannotDoError(f"the stack recorded {row.sha1} for content with SHA-1 {expected}")
