"""`bucketsum local` where nothing runs, and where something is missing."""

import json
import os
import signal
import socket
import subprocess
import sys
import textwrap
from dataclasses import asdict
from pathlib import Path

import pytest
from samcli.cli.types import (  # type: ignore[import-untyped] # no types
    CfnParameterOverridesType,
)
from tests.cli.conftest import Run
from tests.support.fifo import open_fifo
from tests.support.moto_server import moto_server
from tests.support.servers import reserved_port

from bucketsum_cli.aws.connection import Connection
from bucketsum_cli.aws.session import local_session
from bucketsum_cli.commands.local import demo, demonstration
from bucketsum_cli.commands.local.deployment import locked
from bucketsum_cli.emulator import emulator_state, launcher, process
from bucketsum_cli.emulator.emulator_state import LocalAws, LocalProject
from bucketsum_cli.emulator.interpreter import Interpreter, make_runtime
from bucketsum_cli.emulator.sam import Sam, template_parameters
from bucketsum_cli.machine.folders import HOME_VARIABLE
from bucketsum_cli.terminal.errors import CannotDoError


@pytest.mark.usefixtures("project")
@pytest.mark.parametrize("command", [("status",), ("logs",), ("logs", "--emulator")])
def test_what_needs_a_running_one_says_how_to_start_it(run: Run, command: tuple[str, ...]) -> None:
    """Where nothing runs the way to start it is in the error, and the status is 2."""
    run("local", *command).assert_refused("bucketsum local up")


def test_the_emulators_log_cannot_be_followed(run: Run) -> None:
    """Options that contradict each other are refused, whether the emulator runs or not."""
    run("local", "logs", "--follow", "--emulator").assert_refused(
        "--follow cannot be used with --emulator"
    )


@pytest.mark.usefixtures("project")
def test_down_leaves_files_of_the_person(
    run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """`BUCKETSUM_HOME` may be a folder with a `tmp` that the emulator did not make."""
    monkeypatch.setenv("BUCKETSUM_HOME", str(tmp_path))
    (tmp_path / "tmp").mkdir()
    assert run("local", "down").status == 0
    assert (tmp_path / "tmp").is_dir()


@pytest.mark.usefixtures("project")
def test_down_where_nothing_runs_is_no_error(run: Run) -> None:
    """The wish is fulfilled already."""
    assert run("local", "down").out.strip() == "the local emulator was not running"
    assert run("local", "down", "--json").document == {"stopped": False}


def test_outside_a_project_the_error_says_so(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The local emulator belongs to a clone of bucketsum."""
    monkeypatch.chdir(tmp_path)
    run("local", "up").assert_refused("not inside a bucketsum project")


@pytest.mark.usefixtures("project")
def test_a_parameter_needs_a_value(run: Run) -> None:
    """`--parameter` says what it was given and what it wants."""
    run("local", "up", "--parameter", "MemorySize").assert_refused("'MemorySize' is not NAME=VALUE")


PARAMETERS = """
Parameters:
  MemorySize: {Type: Number, Default: 256}
  ExistingBucketName: {Type: String, Default: ""}
Resources:
  Bucket: {Condition: !Not [A], Value: !Ref MemorySize}
"""


def test_each_deployment_sets_every_parameter(project: LocalProject) -> None:
    """None keeps the value of the deployment before; an empty value reaches SAM as one."""
    template = project.folder / "template.yaml"
    template.write_text(PARAMETERS)
    here = Interpreter(Path(sys.executable), 13)

    first = template_parameters(template, here, {"MemorySize": "999", "ExistingBucketName": ""})
    second = template_parameters(template, here, {})

    assert (first["MemorySize"], second["MemorySize"]) == ("999", "256")
    assert second["ExistingBucketName"] == ""
    assert second["PythonRuntime"] == "python3.13"


def test_unknown_parameter_is_refused_with_the_nearest_name(project: LocalProject) -> None:
    """A misspelt parameter would be ignored by SAM."""
    template = project.folder / "template.yaml"
    template.write_text(PARAMETERS)

    with pytest.raises(CannotDoError, match="no parameter Memorysize; the nearest name is Memory"):
        template_parameters(template, Interpreter(Path(sys.executable), 13), {"Memorysize": "1"})


def test_values_reach_sam_as_they_are(project: LocalProject) -> None:
    """Empty values and spaces too: SAM reads NAME="VALUE"."""
    values = {"A": "", "B": "x y", "C": "1"}
    sam = Sam(project, an_emulator("https://127.0.0.1:1"), Interpreter(Path("p"), 13), values)
    options = sam.overrides()
    parsed = CfnParameterOverridesType().convert(tuple(options), None, None)
    assert parsed == values


@pytest.mark.usefixtures("project")
def test_missing_parts_are_named(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """Installed without `bucketsum[local]`, the command says what is missing and how to get it."""
    monkeypatch.setattr("importlib.util.find_spec", lambda name: name == "uv" or None)
    run("local", "up").assert_refused("needs ministack, samcli, trustme", "extra `local`")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ('{"pid": 1, "colour": "blue"}', "another version"),
        (
            '{"pid": 1, "endpoint": "e", "region": 5, "stack": "s", "ca_bundle": "c"}',
            "another version",
        ),
        *[(text, "not running") for text in ("", "{}", "half a docum")],
    ],
)
def test_a_state_that_is_not_understood_is_of_another_version_or_broken(
    project: LocalProject, monkeypatch: pytest.MonkeyPatch, text: str, reason: str
) -> None:
    """The former is said; a file that was cut off keeps nobody from starting anew."""
    monkeypatch.setattr(process, "lives", lambda _pid, _home: True)
    project.home.mkdir()
    (project.home / "local.json").write_text(text)

    with pytest.raises(CannotDoError, match=reason):
        emulator_state.running(project)


@pytest.mark.usefixtures("running_emulator")
def test_the_status_says_that_workers_are_not_limited(run: Run) -> None:
    """Numbers of unlimited workers carry a label."""
    ended = run("local", "status")

    assert "lambda_shape  no" in ended.out
    assert "network       lambda" in ended.out
    assert "\\n" not in ended.err
    assert "memory size does not change speed" in ended.err


def test_the_digest_is_that_of_sha1sum(tmp_path: Path) -> None:
    """The demonstration's oracle is `sha1sum` itself, whatever the file's name."""
    file = tmp_path / "a \\ name\nof two lines"
    file.write_bytes(b"abc")

    assert demonstration.sha1sum(file) == "a9993e364706816aba3e25717850c26c9cd0d89d"


def test_without_a_program_that_works_there_is_nothing_to_compare_with(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No oracle is an error, not a pass; the output of one that fails is not used as a digest."""
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(CannotDoError, match="sha1sum"):
        demonstration.sha1sum(Path(__file__))
    program = tmp_path / "sha1sum"
    program.write_text("#!/bin/sh\necho broken >&2\nexit 1\n")
    program.chmod(0o755)
    with pytest.raises(CannotDoError, match="broken"):
        demonstration.sha1sum(Path(__file__))


def test_a_tool_that_fails_is_quoted(project: LocalProject) -> None:
    """Where the workers' runtime cannot be made, what uv said is in the error."""
    (project.folder / "requirements.lock").touch()
    absent = Interpreter(project.folder / "no-python", 13)

    with pytest.raises(CannotDoError, match="uv"):
        make_runtime(project, absent)


def test_the_clone_of_the_command_is_found_from_any_folder(
    project: LocalProject, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """--local works where the files are; a clone around the current folder comes first."""
    elsewhere = tmp_path / "photos"
    elsewhere.mkdir()
    installed = tmp_path / "installed"
    (installed / "layers" / "bucketsum").mkdir(parents=True)
    (installed / "template.yaml").touch()
    monkeypatch.setattr(emulator_state, "_INSTALLED_FROM", installed)

    monkeypatch.chdir(project.folder / "layers")
    assert emulator_state.local_project() == project
    (project.folder / "template.yaml").unlink()
    monkeypatch.chdir(elsewhere)
    assert emulator_state.local_project() == LocalProject.at(installed)


def test_another_emulator_is_named_by_a_variable(
    project: LocalProject, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After `make demo KEEP=1` all commands can use the demonstration's stack."""
    home = project.separate("demo").home
    monkeypatch.setenv(HOME_VARIABLE, str(home))
    assert emulator_state.local_project() == project.separate("demo")
    ended = run("ls", "--local")
    assert (ended.status, str(home) in ended.err) == (2, True)
    assert "`bucketsum local up`" in ended.err
    assert f"unset {HOME_VARIABLE}" in ended.err


def test_a_running_emulator_needs_no_clone(
    project: LocalProject, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The command may be installed far from any clone; its variables reach other programs."""
    aws = LocalAws(1, "https://127.0.0.1:4566", "us-east-1", "bucketsum", "/a b/ca.pem")
    project.home.mkdir(parents=True, exist_ok=True)
    (project.home / "local.json").write_text(json.dumps(asdict(aws)))
    monkeypatch.setenv(HOME_VARIABLE, str(project.home))
    monkeypatch.setattr(emulator_state, "_INSTALLED_FROM", tmp_path / "none")
    monkeypatch.setattr(emulator_state, "living_pid", lambda _: 1)
    monkeypatch.chdir(tmp_path.parent)
    assert run("local", "env", "--json").document == aws.environment()
    printed = subprocess.run(
        ["sh", "-c", f'{run("local", "env").out}printf %s "$AWS_CA_BUNDLE"'],  # noqa: S607
        check=True,
        capture_output=True,
    )
    assert printed.stdout == b"/a b/ca.pem"
    run("local", "up").assert_refused("no clone of bucketsum")


def test_a_demonstration_that_was_kept_is_not_thrown_away(
    project: LocalProject, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The next one says how to use and how to end the stack that is still up."""
    home = project.separate("demo").home
    monkeypatch.setattr(emulator_state, "living_pid", lambda at: 1 if at.home == home else None)
    run("local", "demo").assert_refused(f"export {HOME_VARIABLE}={home}", "bucketsum local down")


@pytest.mark.usefixtures("project")
def test_the_demonstration_ends_with_a_next_step(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its last line is what to do; with --keep, how to use the stack that stays."""
    monkeypatch.setattr(demo, "bring_up", lambda *_, **__: None)
    monkeypatch.setattr(demo, "stop", lambda _: None)
    monkeypatch.setattr(demo, "run_demo", lambda *_, **__: (2, 2))
    ended = run("local", "demo")
    assert (ended.status, ended.out) == (0, "2 of 2 equal sha1sum\n")
    assert ended.err.startswith("next: `bucketsum local up` deploys a stack that stays; ")
    kept = run("local", "demo", "--keep").err
    assert ("next: " in kept, f"export {HOME_VARIABLE}=" in kept) == (False, True)


def test_tabs_of_a_log_are_blanks(tmp_path: Path) -> None:
    """An error shows the end of SAM's log; escapes of tabs help nobody."""
    (tmp_path / "log").write_text("first\n\tat x\n")
    assert launcher.log_end(tmp_path / "log", 1) == "        at x"


@pytest.mark.usefixtures("project")
@pytest.mark.parametrize("command", ["up", "down", "demo"])
def test_only_one_command_at_a_time_starts_or_stops(
    run: Run, project: LocalProject, command: str
) -> None:
    """Two at once would leave a local emulator behind that nobody knows."""
    with locked(project.separate("demo") if command == "demo" else project):
        refused = run("local", command)
    refused.assert_refused("another `bucketsum local` is running here")
    assert run("local", "down").status == 0


def as_the_emulator(home: Path, program: str) -> subprocess.Popen[bytes]:
    """A process that, by its command line, is the one of *home*; leader of a group."""
    return subprocess.Popen(
        [sys.executable, "-c", program, str(home / process.WORKER_PROGRAM)],
        stdin=subprocess.PIPE,
        start_new_session=True,
    )


def test_a_process_is_known_by_its_command_line(tmp_path: Path) -> None:
    """Only the local emulator of this very project lives; no other, and none that has ended."""
    with as_the_emulator(tmp_path, "import sys; sys.stdin.read()") as ours:
        assert process.lives(ours.pid, tmp_path)
        assert not process.lives(ours.pid, tmp_path / "another")
        assert not process.lives(os.getpid(), tmp_path)
        ours.kill()
        os.waitid(os.P_PID, ours.pid, os.WEXITED | os.WNOWAIT)  # has ended, is not collected
        assert not process.lives(ours.pid, tmp_path)
    assert not process.lives(ours.pid, tmp_path)


def test_a_process_that_is_being_started_is_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """During exec its command line is empty, on a busy machine for long."""
    (tmp_path / "7").mkdir()
    (tmp_path / "7" / "cmdline").touch()
    (tmp_path / "7" / "exe").symlink_to(sys.executable)
    begun = f"python\0{tmp_path / process.WORKER_PROGRAM}\0"
    monkeypatch.setattr(process, "_PROC", tmp_path)
    monkeypatch.setattr("time.sleep", lambda _: (tmp_path / "7" / "cmdline").write_text(begun))
    assert process.lives(7, tmp_path)


def test_a_process_of_another_program_is_not_the_emulator(project: LocalProject) -> None:
    """A number that the system gave to somebody else does not make the local emulator run."""
    emulator_state.save(project, an_emulator("https://127.0.0.1:1"))

    with pytest.raises(CannotDoError, match="not running"):
        emulator_state.running(project)


def test_no_worker_outlives_the_local_emulator(tmp_path: Path) -> None:
    """A child that does not listen to SIGTERM ends with its leader all the same.

    All of them hold the FIFO open; its end is theirs.
    """
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    program = f"""
        import os, signal, time
        held = open({str(fifo)!r}, "wb", buffering=0)
        if os.fork() == 0:
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
            held.write(b"!")
        time.sleep(600)
    """
    with as_the_emulator(tmp_path, textwrap.dedent(program)) as leader, open_fifo(fifo) as held:
        assert held.read(1) == b"!"

        process.end(leader.pid, tmp_path)

        assert held.read() == b""


def an_emulator(endpoint: str) -> emulator_state.LocalAws:
    """One that this test process plays."""
    return emulator_state.LocalAws(os.getpid(), endpoint, "us-east-1", "bucketsum", os.devnull)


@pytest.fixture
def persons_aws(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Variables with which a person reaches their own AWS, through a proxy that is not there."""
    config = tmp_path / ".aws" / "config"
    config.parent.mkdir()
    config.write_text("[default")  # whoever reads it fails
    for name, value in {
        "HOME": str(tmp_path),
        "AWS_PROFILE": "missing",
        "AWS_DEFAULT_PROFILE": "missing",
        "AWS_CONFIG_FILE": str(config),
        "AWS_SESSION_TOKEN": "theirs",
        "AWS_ENDPOINT_URL_S3": "http://127.0.0.1:9",
        "AWS_IGNORE_CONFIGURED_ENDPOINT_URLS": "true",
        "AWS_USE_DUALSTACK_ENDPOINT": "true",
        "AWS_USE_FIPS_ENDPOINT": "true",
        "HTTP_PROXY": "http://127.0.0.1:9",
        "HTTPS_PROXY": "http://127.0.0.1:9",
        "NO_PROXY": "intra.example",
    }.items():
        monkeypatch.setenv(name, value)


@pytest.mark.usefixtures("persons_aws")
def test_the_persons_own_aws_settings_are_ignored() -> None:
    """No profile, variable, file or proxy of theirs changes what --local talks to."""
    with moto_server() as endpoint:
        aws = an_emulator(endpoint)
        s3 = Connection(local_session(aws), aws.endpoint, aws.ca_bundle).client("s3")
        s3.create_bucket(Bucket="ours")
        names = [bucket["Name"] for bucket in s3.list_buckets()["Buckets"]]

    assert "ours" in names
    assert s3.meta.endpoint_url == aws.endpoint


@pytest.mark.usefixtures("persons_aws")
def test_sam_sees_our_aws_and_none_of_theirs(project: LocalProject) -> None:
    """Every AWS_* variable of SAM's is ours, without a proxy; its layer is for one Python."""
    aws = an_emulator("https://127.0.0.1:1")

    seen = Sam(project, aws, Interpreter(Path(sys.executable), 13), {}).environment()

    assert {name: seen[name] for name in seen if name.startswith("AWS_")} == aws.environment()
    assert seen["NO_PROXY"] == seen["no_proxy"] == "intra.example,127.0.0.1,localhost"
    assert seen["HTTPS_PROXY"] == "http://127.0.0.1:9"  # pip may need it
    assert seen["ONLY_RUNTIME"] in ("3.13-x86_64", "3.13-aarch64")


ENDED_BY_SIGTERM = 128 + signal.SIGTERM


def python_at(project: LocalProject, program: str) -> subprocess.Popen[str]:
    """A process of its own, to be sent a signal, that runs *program* in *project*."""
    return subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(program)],
        cwd=project.folder,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        stdout=subprocess.PIPE,
        text=True,
    )


def test_sigterm_stops_what_the_demonstration_started(project: LocalProject) -> None:
    """It ends in order, as with Ctrl-C, with the shells' own exit status for that."""
    program = """
        import importlib, sys, time
        from bucketsum_cli.emulator import launcher
        from bucketsum_cli.main import main

        def at_work(*_, **__):
            print("at work", flush=True)
            time.sleep(600)

        command = importlib.import_module("bucketsum_cli.commands.local.demo")
        command.bring_up = lambda *_, **__: None
        command.run_demo = at_work
        launcher.stop = lambda _: print("stopped")
        sys.argv = ["bucketsum", "local", "demo"]
        main()
    """
    with python_at(project, program) as demonstration:
        assert demonstration.stdout
        assert demonstration.stdout.readline() == "at work\n"
        demonstration.send_signal(signal.SIGTERM)
        assert demonstration.stdout.read() == "stopped\n"
    assert demonstration.returncode == ENDED_BY_SIGTERM


def test_sigterm_ends_sam_and_its_children(project: LocalProject) -> None:
    """Neither goes on building for nobody; both hold the FIFO open, and its end is theirs."""
    fifo = project.folder / "fifo"
    os.mkfifo(fifo)
    sam = project.folder / "python"
    sam.write_text(f"#!/bin/sh\nexec 3>{fifo}\nsleep 600 &\necho building >&3\nwait\n")
    sam.chmod(0o755)
    project.home.mkdir()
    program = f"""
        import importlib, sys
        from pathlib import Path
        from bucketsum_cli.emulator import emulator_state, interpreter, sam
        from bucketsum_cli.main import main

        aws = emulator_state.LocalAws(1, "https://127.0.0.1:1", "us-east-1", "s", "ca.pem")
        own = interpreter.Interpreter(Path(sys.executable), 13)
        command = importlib.import_module("bucketsum_cli.commands.local.up")
        command.bring_up = lambda project, _, **__: sam.Sam(project, aws, own, {{}}).build()
        sys.executable = {str(sam)!r}
        sys.argv = ["bucketsum", "local", "up"]
        main()
    """
    with python_at(project, program) as building, open_fifo(fifo) as held:
        assert held.readline() == b"building\n"
        building.send_signal(signal.SIGTERM)
        assert held.read() == b""
    assert building.returncode == ENDED_BY_SIGTERM


def test_a_signal_during_the_start_of_a_process_comes_after_it() -> None:
    """The block ends first, so that whoever handles the signal knows what was started."""
    started = False

    def start_while_interrupted() -> None:
        nonlocal started
        with process.signals_held():
            signal.raise_signal(signal.SIGINT)
            started = True

    with pytest.raises(KeyboardInterrupt):
        start_while_interrupted()
    assert started
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_a_port_whose_last_connections_are_remembered_is_free() -> None:
    """The usual port is found again right after `down`, as the server can bind it."""
    with reserved_port() as port:
        with socket.create_server(("127.0.0.1", port)) as server:
            with socket.create_connection(("127.0.0.1", port)) as client:
                server.accept()[0].close()  # the side that closes first remembers
                assert client.recv(1) == b""
            assert launcher._free_port(port) is None  # noqa: SLF001 - what `start` tries first
        assert launcher._free_port(port) == port  # noqa: SLF001 - as above


def test_no_two_clones_share_control_groups(tmp_path: Path) -> None:
    """Both may want the same port; one's cleaning up must not take the other's control groups."""
    first, second = (launcher._group_name(tmp_path / name, 4566) for name in "ab")  # noqa: SLF001 - a name
    assert first != second
