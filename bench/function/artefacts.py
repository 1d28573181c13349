"""Build artefacts of `sam build`, and an interpreter like Lambda's."""

import os
import shutil
import subprocess
import sys
import sysconfig
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from bucketsum_cli.emulator import emulator_state
from bucketsum_cli.emulator.interpreter import make_runtime, newest_interpreter
from bucketsum_cli.terminal.errors import CannotDoError

VARIABLES: Final = {
    "AWS_DEFAULT_REGION": "us-east-1",
    "AWS_REGION": "us-east-1",
    "AWS_ACCESS_KEY_ID": "benchmark",
    "AWS_SECRET_ACCESS_KEY": "benchmark",
    "AWS_LAMBDA_FUNCTION_MEMORY_SIZE": "512",
    "LAMBDA_TASK_ROOT": "/var/task",  # makes Powertools trace, as it does in Lambda
    "DIGESTS_TABLE": "digests",
    "BACKFILLS_TABLE": "backfills",
    "ARRIVALS_QUEUE_URL": "https://sqs.us-east-1.amazonaws.com/123456789012/arrivals",
    "DEAD_LETTER_QUEUE_URL": "https://sqs.us-east-1.amazonaws.com/123456789012/dead-letters",
    "MAX_RECEIVES": "5",
    "DELETED_ROW_DAYS": "0",
    "CHUNK_BYTES": "1048576",
    "STREAMS": "auto",
    "COMPARE_CHECKSUMS": "yes",
    "POWERTOOLS_SERVICE_NAME": "benchmark",
    "POWERTOOLS_METRICS_NAMESPACE": "bucketsum",
}
"""The whole environment of a function."""


@dataclass(frozen=True, slots=True)
class Artefacts:
    """The parts of a function in Lambda.

    Attributes:
        python: Interpreter with the standard library, boto3 and its dependencies, compiled.
        runtime: Lambda's name of it.
        functions: Folders of handlers by name: ``hasher`` and ``baseline``.
        layer: The built layer, /opt/python.
        uncompiled: The layer without bytecode, and X-Ray's SDK for the baseline's Tracer.
        compiled: The same with bytecode.
    """

    python: Path
    runtime: str
    functions: dict[str, Path]
    layer: Path
    uncompiled: Path
    compiled: Path

    def search(self, function: str, layer: Path) -> list[str]:
        """The folders of *function* that come first in its search path, in Lambda's order."""
        site = layer / "lib" / self.runtime / "site-packages"
        return [str(self.functions[function]), str(site), str(layer)]


def build() -> Artefacts:
    """Build the project into its folder for generated files.

    Raises:
        CannotDoError: `sam build` failed; the text is its output.
    """
    project = emulator_state.project_folder()
    interpreter = newest_interpreter()
    python = make_runtime(emulator_state.LocalProject.at(project), interpreter)
    folder = project / emulator_state.FOLDER / "bench-build"
    _run(
        *(sys.executable, "-m", "samcli", "build", "--no-cached", "--build-dir", folder),
        *("--parameter-overrides", f"PythonRuntime={interpreter.runtime}"),
        path=interpreter.path.parent,
    )
    _run(python, "-m", "compileall", "-q", python.parents[1] / "lib")
    layer = folder / "BucketsumLayer" / "python"
    uncompiled = folder / "uncompiled"
    shutil.copytree(layer, uncompiled, ignore=shutil.ignore_patterns("__pycache__"))
    for package in ("aws_xray_sdk", "wrapt"):  # the baseline's alone; moto needs them too
        shutil.copytree(Path(sysconfig.get_path("purelib"), package), uncompiled / package)
    compiled = shutil.copytree(uncompiled, folder / "compiled")
    _run(python, "-m", "compileall", "-q", compiled)
    functions = {"hasher": folder / "HasherFunction", "baseline": folder / "baseline"}
    functions["baseline"].mkdir()
    shutil.copy(Path(__file__).parent / "baseline" / "app.py", functions["baseline"])
    return Artefacts(python, interpreter.runtime, functions, layer, uncompiled, compiled)


def _run(*command: str | Path, path: Path | None = None) -> None:
    """Run a program with this project's tools and *path* first on its PATH."""
    tools = [str(Path(sys.executable).parent), str(path or ""), os.environ.get("PATH", os.defpath)]
    completed = subprocess.run(  # noqa: S603 - SAM, and the new interpreter
        command,
        capture_output=True,
        text=True,
        check=False,
        cwd=emulator_state.project_folder(),
        env=os.environ | {"PATH": os.pathsep.join(filter(None, tools)), "SAM_CLI_TELEMETRY": "0"},
    )
    if completed.returncode:
        raise CannotDoError(
            f"{' '.join(map(str, command))} failed:\n{completed.stdout}{completed.stderr}"
        )
