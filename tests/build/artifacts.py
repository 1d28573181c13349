"""The output of `sam build`, and the folders that a function sees in Lambda."""

import importlib.metadata
import os
import platform
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

from tests.support.sam_template import TEMPLATE, load_template
from tests.support.shared_layer import copied_project

from bucketsum_cli.emulator.interpreter import Interpreter, newest_interpreter

ARCHITECTURE: Final = "arm64" if platform.machine().lower() in {"aarch64", "arm64"} else "x86_64"

LAMBDA_BRINGS: Final = (
    "boto3", "botocore", "jmespath", "python-dateutil", "s3transfer", "six", "urllib3",
    "awslambdaric", "simplejson", "snapshot-restore-py",
)  # fmt: skip
"""The distributions that Lambda's Python runtimes bring: boto3, the runtime client, their needs."""

_BIN: Final = Path(sys.executable).parent


@cache
def interpreter() -> Interpreter:
    """The newest Python of this machine that Lambda has."""
    return newest_interpreter()


def overrides() -> str:
    """The template's parameters for it."""
    return f"PythonRuntime={interpreter().runtime} Architecture={ARCHITECTURE}"


@dataclass(frozen=True, slots=True)
class Built:
    """The folder that `sam build` filled."""

    folder: Path

    @property
    def template(self) -> Path:
        """The built template."""
        return self.folder / "template.yaml"

    def function(self, logical_id: str) -> Path:
        """The folder that is /var/task in Lambda."""
        return self.folder / logical_id

    @property
    def layer(self) -> Path:
        """The folder that is /opt/python for the functions that hash."""
        return self.folder / "BucketsumLayer" / "python"

    def layers_of(self, function: str) -> list[Path]:
        """The folders that Lambda merges into /opt/python for *function*."""
        layers = load_template()["Resources"][function]["Properties"]["Layers"]
        return [self.folder / layer["Ref"] / "python" for layer in layers]


def with_tools(**more: str) -> dict[str, str]:
    """An environment in which our own SAM, and the Python that runs the functions, come first.

    SAM looks for ``pythonX.Y`` on PATH and does not accept a pyenv shim.
    """
    path = os.pathsep.join([str(_BIN), str(interpreter().path.parent), os.environ["PATH"]])
    return os.environ | {"PATH": path, "SAM_CLI_TELEMETRY": "0"} | more


def sam(
    *arguments: str | Path, command: Sequence[str | Path] = (_BIN / "sam",)
) -> subprocess.CompletedProcess[str]:
    """Run our own SAM in the project's root; the caller looks at what it answered."""
    return subprocess.run(
        [*command, *arguments],
        check=False,
        capture_output=True,
        text=True,
        cwd=TEMPLATE.parent,
        env=with_tools(),
    )


def sam_build(into: Path) -> Built:
    """Build everything from a copy of the project."""
    project = copied_project(into / "project")
    done = sam(
        "build", "--template", project / "template.yaml", "--build-dir", into / "build",
        "--cache-dir", into / "build-cache", "--parameter-overrides", overrides(),
    )  # fmt: skip
    assert done.returncode == 0, f"sam build failed:\n{done.stdout}\n{done.stderr}"
    return Built(into / "build")


def copy_lambda_packages(into: Path) -> Path:
    """Fill a folder with what Lambda's own runtime has on its path, and nothing more.

    With bytecode, as in Lambda: nothing that starts a function here may write it. Where the
    environment has another Python, its compiled runtime client does not fit.
    """
    into.mkdir()
    for name in LAMBDA_BRINGS:
        distribution = importlib.metadata.distribution(name)
        for top in {file.parts[0] for file in distribution.files or ()} - {"..", "__pycache__"}:
            _copy(Path(str(distribution.locate_file(top))), into / top)
    if sys.version_info.minor != interpreter().minor:
        shutil.copy(Path(__file__).with_name("runtime_client.py"), into)
    subprocess.run([interpreter().path, "-m", "compileall", "-q", into], check=True)
    return into


def _copy(source: Path, target: Path) -> None:
    """Copy a module or a package; its data, which nobody changes, is linked."""
    if not source.is_dir():
        shutil.copy(source, target)
        return
    shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__", "data"))
    if (source / "data").is_dir():
        (target / "data").symlink_to(source / "data")


def ids_of(kind: str) -> list[str]:
    """The logical ids of the template's resources of a type."""
    resources: Mapping[str, Mapping[str, str]] = load_template()["Resources"]
    return [logical_id for logical_id, resource in resources.items() if resource["Type"] == kind]


def function_ids() -> list[str]:
    """The logical ids of the template's functions."""
    return ids_of("AWS::Serverless::Function")
