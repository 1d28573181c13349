"""layers/bucketsum/build.py: a wheel that is missing fails the build, unless that is allowed."""

import importlib.util
import json
import subprocess
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any, Final
from unittest.mock import Mock

import botocore
import pytest
from tests.build.artifacts import Built, interpreter
from tests.support.sam_template import TEMPLATE

from bucketsum.invocation.layer_manifest import log_layer

SCRIPT: Final = TEMPLATE.parent / "layers" / "bucketsum" / "build.py"


@pytest.fixture
def script(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The build script as a module; `sam build` runs it with its own Python."""
    spec = importlib.util.spec_from_file_location("layer_build", SCRIPT)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "layer_build", module)  # dataclasses look there
    spec.loader.exec_module(module)
    return module


def without(script: ModuleType, absent: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let pip install everything, as empty folders, but a requirement that begins with *absent*."""

    def pip(_target: Path, _options: Sequence[str], pins: Iterable[str]) -> bool:
        return not any(pin.startswith(absent) for pin in pins)

    monkeypatch.setattr(script, "_pip", pip)
    monkeypatch.setattr(script, "compile_bytecode", lambda _target: ["3.13"])


def manifest_in(target: Path) -> Any:  # noqa: ANN401 - a JSON document
    """The manifest that the build wrote."""
    return json.loads((target / "bucketsum" / "layer.json").read_text())


@pytest.mark.parametrize("absent", ["pycurl", "isal", "backports.zstd"])
def test_a_missing_wheel_fails_the_build(
    script: ModuleType,
    absent: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """The error names each missing wheel, its runtime, and the variable that allows it."""
    without(script, absent, monkeypatch)
    monkeypatch.delenv("ALLOW_MISSING", raising=False)
    assert script.main([str(tmp_path)]) == 1
    error = capsys.readouterr().err
    assert f"{absent}==" in error
    assert "for Python 3.13 on aarch64" in error
    assert "ALLOW_MISSING=1" in error


def test_a_missing_wheel_can_be_allowed(
    script: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With ALLOW_MISSING=1 the layer is built, and its manifest names what it lacks."""
    without(script, "pycurl", monkeypatch)
    monkeypatch.setenv("ALLOW_MISSING", "1")
    assert script.main([str(tmp_path)]) == 0
    missing = manifest_in(tmp_path)["missing"]
    assert len(missing) == 6  # three runtimes, on two architectures
    assert all(wheel.startswith("pycurl==") for wheel in missing)


def test_a_built_layer_is_checked(
    script: ModuleType,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """A layer that lacks wheels, or has no manifest, fails the check until that is allowed."""
    monkeypatch.delenv("ALLOW_MISSING", raising=False)
    assert script.main(["--check", str(tmp_path)]) == 1
    assert "has no layer.json" in capsys.readouterr().err
    without(script, "isal", monkeypatch)
    script.build(tmp_path)
    assert script.main(["--check", str(tmp_path)]) == 1
    assert "isal==" in capsys.readouterr().err
    monkeypatch.setenv("ALLOW_MISSING", "1")
    assert script.main(["--check", str(tmp_path)]) == 0


def test_a_layer_can_serve_the_runtime_of_this_machine_alone(
    script: ModuleType,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """The local emulator names it; one that the layer does not know is refused with the names."""
    without(script, "nothing", monkeypatch)
    monkeypatch.setenv("ONLY_RUNTIME", "3.13-aarch64")
    assert script.main([str(tmp_path)]) == 0
    assert [*manifest_in(tmp_path)["wheels"]] == ["Python 3.13 on aarch64"]
    monkeypatch.setenv("ONLY_RUNTIME", "3.13-arm64")
    assert script.main([str(tmp_path)]) == 1
    assert "3.13-arm64, not one of 3.12-x86_64, 3.12-aarch64, " in capsys.readouterr().err


@pytest.mark.parametrize("arguments", [[], ["--check"], ["a", "b"], ["--check", "a", "b"]])
def test_wrong_arguments_are_refused_with_the_usage(
    script: ModuleType, arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    """The exit status is 2, and nothing is built."""
    assert script.main(arguments) == 2
    assert capsys.readouterr().err.startswith("usage: build.py FOLDER")


def test_missing_pure_distributions_are_never_allowed(
    script: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without Powertools no function starts: ALLOW_MISSING does not go on."""
    without(script, "aws-lambda-powertools", monkeypatch)
    monkeypatch.setenv("ALLOW_MISSING", "1")
    assert script.main([str(tmp_path)]) == 1


def test_every_pin_is_locked(script: ModuleType) -> None:
    """requirements.lock has the hashes of each distribution of the layer, and of no other."""
    files = ("requirements.txt", "requirements-binary.txt")
    pins = [pin for name in files for pin in script.pins_in(SCRIPT.with_name(name)).values()]
    lock = SCRIPT.with_name("requirements.lock").read_text(encoding="utf-8")
    assert script.locked(pins).count("==") == len(pins) == lock.count("==")


def test_a_version_without_hashes_is_refused(script: ModuleType) -> None:
    """A pin that is newer than the lock cannot be installed; the error names the command."""
    with pytest.raises(script.BuildError, match=r"requirements.lock has no isal.*make lock"):
        script.locked(["isal==99.0"])


def test_a_file_with_another_hash_is_not_installed(
    script: ModuleType,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    """A file that the index has replaced fails the build, whatever its name and version say."""
    forged = f"jmespath==1.1.0 --hash=sha256:{'0' * 64}\n"
    monkeypatch.setattr(script, "locked", lambda _pins: forged)
    with pytest.raises(script.BuildError, match=r"requirements\.txt"):
        script.install_pure(tmp_path)
    assert "HASHES" in capfd.readouterr().out
    assert list(tmp_path.iterdir()) == []


def test_known_gaps_are_not_asked_for(script: ModuleType) -> None:
    """Only wheels that exist nowhere are left out, each with its reason in the script."""
    wanted = {(version, pin) for version in script.RUNTIMES for pin in script.compiled_for(version)}
    pins = script.pins_in(SCRIPT.with_name("requirements-binary.txt"))
    every = {(version, pin) for version in script.RUNTIMES for pin in pins.values()}
    gaps = {(version, pins[name]) for version, name in script.KNOWN_GAPS}
    assert gaps == every - wanted


def test_the_built_layer_is_whole(built: Built) -> None:
    """`sam build` wrote a manifest; it names no missing wheel, and the interpreter's bytecode."""
    manifest = manifest_in(built.layer)
    assert manifest["missing"] == []
    assert interpreter().runtime.removeprefix("python") in manifest["bytecode"]


def test_the_library_finds_the_manifest_of_its_layer(built: Built) -> None:
    """The hasher logs the manifest that the build wrote, and the runtime's botocore."""
    program = (
        "import sys; sys.path.insert(0, sys.argv[1]); from unittest.mock import Mock; "
        "from bucketsum.invocation.layer_manifest import log_layer; "
        "log_layer(logger := Mock()); print(logger.mock_calls)"
    )
    done = subprocess.run(
        [sys.executable, "-I", "-c", program, built.layer],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.startswith("[call.info('layer', missing_wheels=[], ")
    assert f"botocore='{botocore.__version__}'" in done.stdout


def test_a_checkout_has_no_manifest() -> None:
    """Outside a built layer there is none, and nothing is logged about it."""
    logger = Mock()
    log_layer(logger)
    assert not logger.mock_calls
