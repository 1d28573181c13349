"""Starting, stopping and failing: nothing half-done is left behind."""

import importlib
import json
import os
import shutil
import socket
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.e2e.command import run
from tests.support.shared_layer import linked

from bucketsum_cli.aws.stack import Stack
from bucketsum_cli.commands.local import demonstration, deployment
from bucketsum_cli.commands.local.deployment import bring_up
from bucketsum_cli.emulator import emulator_state, gateway, launcher
from bucketsum_cli.emulator.emulator_state import LocalProject
from bucketsum_cli.emulator.interpreter import Interpreter, newest_interpreter
from bucketsum_cli.terminal.errors import CannotDoError

demo_command = importlib.import_module("bucketsum_cli.commands.local.demo")


@pytest.fixture(scope="module")
def interpreter() -> Interpreter:
    """The Python of the deployed stack's workers."""
    return newest_interpreter()


@pytest.fixture
def empty_project(tmp_path: Path, project: LocalProject) -> LocalProject:
    """A project of its own, with a workers' runtime that is made already."""
    empty = LocalProject.at(tmp_path)
    linked(project.home / "runtime", empty.home / "runtime")
    for part in ("template.yaml", "samconfig.toml", "requirements.lock", "README.md", "LICENSE"):
        shutil.copyfile(project.folder / part, tmp_path / part)
    shutil.copytree(project.folder / "layers", tmp_path / "layers")
    shutil.copytree(project.folder / "src", tmp_path / "src")
    return empty


def left_behind(project: LocalProject) -> list[str]:
    """Files and control groups that a stopped emulator should have removed."""
    home = project.home
    roots = json.loads((home / "worker.json").read_text())["cgroup_roots"] or {}
    return [str(path) for path in (home / "tmp", home / "local.json") if path.exists()] + [
        root for root in roots.values() if Path(root).exists()
    ]


@pytest.mark.usefixtures("stack")
def test_it_starts_and_stops_without_a_trace(
    empty_project: LocalProject, interpreter: Interpreter
) -> None:
    """After `down` there is no process, no port, no temporary file and no control group."""
    started = launcher.start(empty_project, interpreter)
    assert emulator_state.running(empty_project) == started

    assert launcher.stop(empty_project) is True

    with pytest.raises(ProcessLookupError):
        os.kill(started.pid, 0)
    assert left_behind(empty_project) == []
    assert launcher.stop(empty_project) is False


@pytest.mark.usefixtures("stack")
def test_a_port_that_another_took_meanwhile_is_not_insisted_on(
    empty_project: LocalProject, interpreter: Interpreter, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where two clones start at once, the one that comes second takes another port.

    And no proxy of the person's stands between it and us.
    """
    monkeypatch.setenv("HTTPS_PROXY", "http://127.0.0.1:9")
    free_port = launcher._free_port  # noqa: SLF001 - what looks before it is taken
    with socket.create_server(("127.0.0.1", 0)) as other:
        occupied = other.getsockname()[1]
        ports = iter([occupied])
        monkeypatch.setattr(
            launcher, "_free_port", lambda wanted: next(ports, None) or free_port(wanted)
        )

        started = launcher.start(empty_project, interpreter)

        launcher.stop(empty_project)
    assert not started.endpoint.endswith(f":{occupied}")
    assert left_behind(empty_project) == []


@pytest.mark.usefixtures("stack")
def test_a_layer_that_cannot_be_built_leaves_nothing_running(empty_project: LocalProject) -> None:
    """When a step fails, its words are shown, and what was started for it ends."""
    (empty_project.folder / "layers" / "bucketsum" / "Makefile").write_text(
        "build-BucketsumLayer:\n\tfalse\n"
    )

    with pytest.raises(CannotDoError, match="sam build"):
        bring_up(empty_project, {})

    assert left_behind(empty_project) == []


@pytest.mark.usefixtures("stack")
def test_one_that_does_not_start_says_why(
    empty_project: LocalProject, interpreter: Interpreter, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The end of its log is in the error, and nothing is left."""
    broken = empty_project.folder / "gateway.py"
    broken.write_text("raise SystemExit('no luck today')")
    monkeypatch.setattr(gateway, "__file__", str(broken))

    with pytest.raises(CannotDoError, match="no luck today"):
        launcher.start(empty_project, interpreter)

    assert left_behind(empty_project) == []


def test_parameters_that_keep_the_function_from_starting_are_named(stack: Stack) -> None:
    """`local up` shows the function's own reason, at once."""
    client = stack.client("lambda")
    variables = client.get_function_configuration(FunctionName=stack.function)["Environment"]
    broken: Any = {"Variables": {**variables["Variables"], "CHUNK_BYTES": "536870912"}}
    client.update_function_configuration(FunctionName=stack.function, Environment=broken)
    try:
        with pytest.raises(CannotDoError, match=r"does not start.*CHUNK_BYTES is 536870912"):
            deployment.require_start(stack)
    finally:
        restored: Any = variables
        client.update_function_configuration(FunctionName=stack.function, Environment=restored)
    deployment.require_start(stack)


def test_a_stack_that_hashes_nothing_is_not_called_up(
    stack: Stack, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A deploy that looks green but records nothing is an error."""
    monkeypatch.setattr(type(stack.digests_table()), "rows_at", lambda _table, _places: {})

    with pytest.raises(CannotDoError, match="was not hashed within"):
        deployment.prove(stack, seconds=0.2)


def test_up_deploys_again_where_it_runs(at_project: LocalProject, stack: Stack) -> None:
    """A second `up` keeps the local emulator and what is in it, and takes new parameters."""
    before = emulator_state.running(at_project)

    done = run("local", "up", "--json", "--parameter", "ExtraAlgorithms=sha256,crc32")

    assert json.loads(done.stdout)["pid"] == before.pid
    environment = stack.client("lambda").get_function_configuration(FunctionName=stack.function)
    assert environment["Environment"]["Variables"]["EXTRA_ALGORITHMS"] == "sha256,crc32"


def environment_with_wheels(folder: Path) -> Path:
    """An environment as `make setup` leaves it, but small."""
    for number in range(3):
        wheel = folder / "wheels" / f"package-{number}.whl"
        wheel.parent.mkdir(parents=True, exist_ok=True)
        wheel.write_bytes(bytes([number]) * 1000)
    library = folder / "lib" / "package" / "module.py"
    library.parent.mkdir(parents=True)
    library.write_bytes(b"x = 1\n" * 1000)
    return folder


@pytest.fixture
def small_demo(
    tmp_path: Path,
    at_project: LocalProject,
    interpreter: Interpreter,
    monkeypatch: pytest.MonkeyPatch,
) -> LocalProject:
    """The demonstration with files of a megabyte."""
    monkeypatch.setattr(sys, "prefix", str(environment_with_wheels(tmp_path / "environment")))
    monkeypatch.setattr(demonstration, "ENOUGH_BYTES", 1_000_000)
    home = at_project.separate("demo").home  # these wheels do not have boto3
    if not (home / "runtime").exists():
        linked(at_project.home / "runtime", home / "runtime")
    source, target = (folder / interpreter.runtime for folder in (at_project.home, home))
    if not target.exists():  # so that `sam build` finds the same layer as built
        linked(source / "build-cache", target / "build-cache")
        shutil.copyfile(source / "build.toml", target / "build.toml")
    return at_project


def test_the_demonstration_compares_every_file_and_leaves_a_running_stack_alone(
    small_demo: LocalProject, stack: Stack
) -> None:
    """Its last line counts the equal files; its stack is another one, and gone at the end."""
    stack.client("s3").put_object(Bucket=stack.bucket, Key="not-the-demo", Body=b"x")
    before = emulator_state.running(small_demo)

    done = run("local", "demo")

    assert done.stdout.splitlines()[-1].strip() == "10 of 10 equal sha1sum"
    assert emulator_state.running(small_demo) == before
    keys = stack.client("s3").list_objects_v2(Bucket=stack.bucket)["Contents"]
    assert "not-the-demo" in {key["Key"] for key in keys}
    assert not any(key["Key"].startswith("demo/") for key in keys)
    assert left_behind(small_demo.separate("demo")) == []


@pytest.mark.usefixtures("small_demo")
def test_the_demonstration_fails_if_a_digest_differs(
    monkeypatch: pytest.MonkeyPatch, stack: Stack
) -> None:
    """A digest that is not `sha1sum`'s makes the exit status 1."""
    monkeypatch.setattr(demo_command, "bring_up", lambda *_, **__: stack)
    monkeypatch.setattr(
        demonstration, "sha1sum", lambda path: "0" * 40 if path.name == "empty" else "1"
    )

    done = run("local", "demo", "--keep", "--json", expected=1)

    assert json.loads(done.stdout)["equal_count"] == 0


def test_the_demonstration_cleans_up(
    small_demo: LocalProject, monkeypatch: pytest.MonkeyPatch, stack: Stack
) -> None:
    """Without --keep its emulator is stopped, also when the demonstration fails."""
    stopped: list[LocalProject] = []
    monkeypatch.setattr(demo_command, "bring_up", lambda *_, **__: stack)
    monkeypatch.setattr(launcher, "stop", stopped.append)

    def break_down(*_: object, **__: object) -> bool:
        raise CannotDoError("half-way")

    monkeypatch.setattr(demo_command, "run_demo", break_down)
    run("local", "demo", expected=CannotDoError.exit_code)

    assert stopped == [small_demo.separate("demo")]


def test_without_wheels_the_demonstration_says_where_they_come_from(tmp_path: Path) -> None:
    """An environment that `make setup` did not make has nothing to show."""
    with pytest.raises(CannotDoError, match="make demo"):
        demonstration.gather(tmp_path / "demo", tmp_path)
