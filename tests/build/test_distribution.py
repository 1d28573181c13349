"""The parts of a release: a template without local paths, and a wheel that works alone."""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
import venv
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

import boto3
import pytest
import yaml
from tests.build.artifacts import Built, sam, with_tools
from tests.support.sam_template import TEMPLATE

from bucketsum import __version__

BUCKET: Final = "packages"


class _Loader(yaml.SafeLoader):
    """Reads intrinsic functions as their arguments."""


_Loader.add_multi_constructor("!", lambda loader, _, node: loader.construct_yaml_str(node)
                              if isinstance(node, yaml.ScalarNode) else None)  # fmt: skip


def texts(value: object) -> Iterator[str]:
    """All texts in a document."""
    if isinstance(value, dict):
        for item in value.values():
            yield from texts(item)
    elif isinstance(value, list):
        for item in value:
            yield from texts(item)
    elif isinstance(value, str):
        yield value


def test_the_packaged_template_refers_to_the_bucket_alone(
    built: Built, endpoint: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is deployed without a clone: code, layer, state machine and README are all uploaded."""
    monkeypatch.setenv("AWS_ENDPOINT_URL", endpoint)
    s3 = boto3.client("s3")
    s3.create_bucket(Bucket=BUCKET)
    packaged = tmp_path / "packaged.yaml"
    done = sam(
        "package", "--template-file", built.template, "--s3-bucket", BUCKET,
        "--s3-prefix", "bucketsum", "--output-template-file", packaged,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    document = yaml.load(packaged.read_text(encoding="utf-8"), _Loader)  # noqa: S506 - a SafeLoader
    references = {text for text in texts(document) if text.startswith(f"s3://{BUCKET}/bucketsum/")}
    listed = s3.list_objects_v2(Bucket=BUCKET)["Contents"]
    assert {f"s3://{BUCKET}/{item['Key']}" for item in listed} >= references
    application = document["Metadata"]["AWS::ServerlessRepo::Application"]
    assert {application["ReadmeUrl"], application["LicenseUrl"]} <= references
    folders = (str(built.folder), str(TEMPLATE.parent), str(tmp_path), "../")
    for text in texts({name: part for name, part in document.items() if name != "Parameters"}):
        assert not text.startswith(folders), text
    for name, resource in document["Resources"].items():
        for field in ("CodeUri", "ContentUri"):
            assert resource["Properties"].get(field, f"s3://{BUCKET}/").startswith("s3://"), name


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of programs of an environment that has the wheel, and no clone."""
    folder = tmp_path_factory.mktemp("wheel")
    _run([sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", folder], TEMPLATE.parent)
    [wheel] = folder.glob("*.whl")
    venv.create(folder / "venv", with_pip=False, symlinks=True)
    python = folder / "venv" / "bin" / "python"
    uv = Path(sys.executable).with_name("uv")
    _run([uv, "pip", "install", "--offline", "--no-deps", "--python", python, wheel], folder)
    return python.parent


def _run(
    command: list[str | Path], folder: Path, more: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command, check=not more, capture_output=True, text=True, cwd=folder,
        env=with_tools(**(more or {})),
    )  # fmt: skip


def bucketsum(installed: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the installed command far from any clone, with the dependencies of these tests."""
    dependencies = {"PYTHONPATH": sysconfig.get_path("purelib")}
    return _run([installed / "bucketsum", *arguments], installed, dependencies)


@pytest.mark.skipif(os.name != "posix", reason="the wheel's programs are in bin")
def test_the_wheel_has_the_command(installed: Path) -> None:
    """`pipx install` needs none of the clone's files; the code is the wheel's."""
    assert bucketsum(installed, "--version").stdout == f"bucketsum, version {__version__}\n"
    ended = bucketsum(installed, "--help")
    assert (ended.returncode, ended.stderr) == (0, "")
    assert "backfill" in ended.stdout
    where: list[str | Path] = [
        installed / "python",
        "-c",
        "import bucketsum_cli; print(bucketsum_cli.__file__)",
    ]
    path = _run(where, installed, {"PYTHONPATH": sysconfig.get_path("purelib")}).stdout
    assert path.startswith(str(installed.parent))


def test_the_wheel_says_that_the_local_emulator_needs_a_clone(installed: Path) -> None:
    """A sentence with the remedy, no traceback."""
    for arguments in (("ls", "--local"), ("local", "up")):
        ended = bucketsum(installed, *arguments)
        assert (ended.returncode, ended.stdout) == (2, "")
        assert "is not inside a bucketsum project" in ended.stderr
        assert "change into a clone of bucketsum" in ended.stderr
        assert "Traceback" not in ended.stderr
