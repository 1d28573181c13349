"""Deploy the template to the local emulator and prove that the stack works."""

from __future__ import annotations

import hashlib
import json
import time
import uuid
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from rich.console import Console

from bucketsum.digest_rows import NULL_VERSION, RowKey
from bucketsum_cli import emulator, output
from bucketsum_cli.errors import CannotDoError
from bucketsum_cli.local import launcher
from bucketsum_cli.local.interpreter import newest_interpreter
from bucketsum_cli.local.sam import Sam, template_parameters
from bucketsum_cli.stack import find_local_stack

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from mypy_boto3_lambda import LambdaClient

    from bucketsum_cli.emulator import LocalProject
    from bucketsum_cli.stack import Stack

PROOF_SECONDS: Final = 60

_STACK: Final = "bucketsum"


def bring_up(project: LocalProject, chosen: Mapping[str, str]) -> Stack:
    """Deploy the template with the parameters *chosen*, and prove that the stack works.

    If a step fails, an emulator that this call started is stopped.

    Raises:
        CannotDoError: A step failed; the message says which, with the end of its log.
    """
    launcher.require_parts()
    interpreter = newest_interpreter()
    template = project.folder / "template.yaml"
    parameters = template_parameters(template, interpreter, chosen)
    try:
        aws = emulator.running(project)
        started_here = False
    except CannotDoError:
        started_here = True
        stop(project)  # remove the leftovers of a killed one
        with _step(f"local emulator, workers on Python 3.{interpreter.minor}"):
            aws = launcher.start(project, _STACK, interpreter)
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


def stop(project: LocalProject) -> bool:
    """Stop the emulator, showing a message; returns whether it was running."""
    with output.notes().status("stopping ..."):
        return launcher.stop(project)


@contextmanager
def _step(name: str) -> Iterator[None]:
    """Show that the step *name* is running, and how long it took."""
    console = Console(stderr=True)
    started = time.monotonic()
    with console.status(f"{name} ..."):
        yield
    console.print(f"[green]✓[/green] {name} [dim]{time.monotonic() - started:.1f} s[/dim]")


def correct_mappings(client: LambdaClient) -> None:
    """Set the concurrency of all event source mappings of the client's Region as a number.

    ministack keeps the template's ``!Ref`` of a number parameter as a text, and then stops
    polling every queue. On AWS this call would change nothing.
    """
    for mapping in client.list_event_source_mappings()["EventSourceMappings"]:
        maximum = mapping.get("ScalingConfig", {}).get("MaximumConcurrency")
        if maximum is not None:  # else it has provisioned pollers, or no maximum
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


def prove(stack: Stack, seconds: float = PROOF_SECONDS) -> float:
    """Put an object and wait for its row; returns the seconds that it took.

    Raises:
        CannotDoError: No row, or a wrong one: the deployment succeeded but does not work.
    """
    s3 = stack.client("s3")
    table = stack.digests_table()
    content = uuid.uuid4().bytes
    key = f".bucketsum-proof-{uuid.uuid4().hex}"
    started = time.monotonic()
    answer = s3.put_object(Bucket=stack.bucket, Key=key, Body=content)
    row_key = RowKey(stack.bucket, key, answer.get("VersionId", NULL_VERSION))
    try:
        while (row := table.row_at(row_key)) is None:
            if time.monotonic() - started > seconds:
                raise CannotDoError(
                    f"the stack is deployed, but an object put into {stack.bucket} was not hashed "
                    f"within {seconds:.0f} s; see `bucketsum local logs`"
                )
            time.sleep(0.05)
    finally:
        s3.delete_object(Bucket=stack.bucket, Key=key, VersionId=row_key.entry)
    expected = hashlib.sha1(content, usedforsecurity=False).hexdigest()
    if row.sha1 != expected:
        raise CannotDoError(f"the stack recorded {row.sha1} for content with SHA-1 {expected}")
    stack.client("dynamodb").delete_item(
        TableName=stack.table,
        Key={"object": {"S": f"{stack.bucket}/{key}"}, "entry": {"S": row_key.entry}},
    )
    return time.monotonic() - started
