"""The real `sam build` and `sam deploy` of the real template, to the embedded AWS."""

from __future__ import annotations

import hashlib
import json
import os
import platform
import re
import subprocess
import sys
import time
import uuid
from pathlib import Path
from typing import TYPE_CHECKING, Final

from bucketsum.digests_table import RowKey
from bucketsum_cli import emulator
from bucketsum_cli.errors import CannotDoError
from bucketsum_cli.local.launcher import log_end
from bucketsum_cli.local.process import end_group

if TYPE_CHECKING:
    from collections.abc import Mapping

    from bucketsum_cli.local.interpreter import Interpreter
    from bucketsum_cli.stack import Stack

PROOF_SECONDS: Final = 60
_LOG_LINES_SHOWN: Final = 30


def parameters_for(interpreter: Interpreter, chosen: Mapping[str, str]) -> dict[str, str]:
    """Template parameters for this machine, and what the person chose on top."""
    arm = platform.machine() in ("arm64", "aarch64")
    return {
        "PythonRuntime": interpreter.runtime,
        "Architecture": "arm64" if arm else "x86_64",
        "MaximumConcurrency": "4",  # a laptop has few cores; each environment is a process
        **chosen,
    }


def build(
    project: Path,
    interpreter: Interpreter,
    aws: emulator.LocalAws,
    parameters: Mapping[str, str],
) -> None:
    """`sam build` into a folder of its own, apart from the builds for AWS.

    Raises:
        CannotDoError: It failed; the text shows what SAM said.
    """
    home = project / emulator.FOLDER
    folders = ["--build-dir", str(home / "build"), "--cache-dir", str(home / "build-cache")]
    _sam(project, interpreter, aws, ["build", *folders, *_overrides(parameters)])
    definitions_as_json(home / "build" / "template.yaml")


def definitions_as_json(template: Path) -> None:
    """Point the built template at state machine definitions in JSON.

    AWS takes YAML as well; ministack reads nothing but JSON.
    """
    import yaml  # noqa: PLC0415 - comes with `bucketsum[local]`, and the command starts without

    def in_json(found: re.Match[str]) -> str:
        definition = yaml.safe_load((template.parent / found[1]).read_text(encoding="utf-8"))
        name = Path(found[1]).with_suffix(".json").name
        (template.parent / name).write_text(json.dumps(definition), encoding="utf-8")
        return f"DefinitionUri: {name}"

    text = template.read_text(encoding="utf-8")
    template.write_text(re.sub(r"DefinitionUri: (\S+\.yaml)", in_json, text), encoding="utf-8")


def deploy(
    project: Path,
    interpreter: Interpreter,
    aws: emulator.LocalAws,
    parameters: Mapping[str, str],
) -> None:
    """`sam deploy` what `build` made.

    Raises:
        CannotDoError: It failed; the text shows what SAM said.
    """
    template = str(project / emulator.FOLDER / "build" / "template.yaml")
    arguments = ["deploy", "--template-file", template, "--stack-name", aws.stack]
    _sam(project, interpreter, aws, [*arguments, *_overrides(parameters)])


def correct_mapping(stack: Stack, maximum_concurrency: int) -> None:
    """Tell the event source mapping its concurrency as a number.

    ministack keeps the template's ``!Ref`` of a number parameter as a text, and then stops
    polling every queue. On AWS this call would change nothing.
    """
    client = stack.client("lambda")
    mappings = client.list_event_source_mappings(FunctionName=stack.function)
    for mapping in mappings["EventSourceMappings"]:
        client.update_event_source_mapping(
            UUID=mapping["UUID"], ScalingConfig={"MaximumConcurrency": maximum_concurrency}
        )


def prove(stack: Stack, seconds: float = PROOF_SECONDS) -> float:
    """Put an object and see its row land; returns how many seconds that took.

    Raises:
        CannotDoError: No row, or a wrong one: the deploy looks green but does not work.
    """
    s3 = stack.client("s3")
    ledger = stack.ledger()
    content = uuid.uuid4().bytes
    key = f".bucketsum-proof-{uuid.uuid4().hex}"
    started = time.monotonic()
    version = s3.put_object(Bucket=stack.bucket, Key=key, Body=content).get("VersionId", "null")
    place = RowKey(stack.bucket, key, version)
    try:
        while (row := ledger.row_at(place)) is None:
            if time.monotonic() - started > seconds:
                raise CannotDoError(
                    f"the stack is deployed, but an object put into {stack.bucket} was not hashed "
                    f"within {seconds:.0f} s; see `bucketsum local logs`"
                )
            time.sleep(0.05)
    finally:
        s3.delete_object(Bucket=stack.bucket, Key=key, VersionId=version)
    expected = hashlib.sha1(content, usedforsecurity=False).hexdigest()
    if row.sha1 != expected:
        raise CannotDoError(f"the stack recorded {row.sha1} for content with SHA-1 {expected}")
    stack.client("dynamodb").delete_item(
        TableName=stack.table,
        Key={"object": {"S": f"{stack.bucket}/{key}"}, "entry": {"S": version}},
    )
    return time.monotonic() - started


def _overrides(parameters: Mapping[str, str]) -> list[str]:
    return ["--parameter-overrides", *(f"{name}={value}" for name, value in parameters.items())]


def sam_environment(aws: emulator.LocalAws, interpreter: Interpreter) -> dict[str, str]:
    """This process's environment without the person's own AWS, and past every proxy to ours.

    The workers' Python is on its PATH.
    """
    kept = {name: value for name, value in os.environ.items() if not name.startswith("AWS_")}
    own = str(Path(sys.executable).parent)
    path = [own, str(interpreter.path.parent), kept.get("PATH", os.defpath)]
    exempt = [kept.get("NO_PROXY") or kept.get("no_proxy"), "127.0.0.1", "localhost"]
    no_proxy = ",".join(filter(None, exempt))
    return {
        **kept,
        **aws.environment(),
        "NO_PROXY": no_proxy,
        "no_proxy": no_proxy,
        "PATH": os.pathsep.join(path),
        "SAM_CLI_TELEMETRY": "0",
    }


def _sam(
    project: Path, interpreter: Interpreter, aws: emulator.LocalAws, arguments: list[str]
) -> None:
    """Run the SAM CLI that is installed beside us."""
    log = project / emulator.FOLDER / f"sam-{arguments[0]}.log"
    # SAM looks for its configuration beside the template, which for a deploy is the built one.
    config = ["--config-file", str(project / "samconfig.toml"), "--config-env", "local"]
    command = [sys.executable, "-m", "samcli", *arguments, *config]
    if _status_of(command, project, sam_environment(aws, interpreter), log):
        raise CannotDoError(
            f"`sam {arguments[0]}` failed; the end of {log}:\n{log_end(log, _LOG_LINES_SHOWN)}"
        )


def _status_of(command: list[str], folder: Path, environment: Mapping[str, str], log: Path) -> int:
    """Run *command* to its end; where we are told to end first, so are it and its children."""
    with (
        log.open("wb") as output,
        subprocess.Popen(  # noqa: S603 - our own SAM CLI
            command,
            cwd=folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            start_new_session=True,  # a group, to be ended as one
        ) as child,
    ):
        try:
            return child.wait()
        except BaseException:
            end_group(child.pid)
            raise
