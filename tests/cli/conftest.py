"""The command as a person meets it: arguments in; exit status, stdout and stderr out."""

from __future__ import annotations

import importlib
import io
import json
import os
import re
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Final, Protocol

import boto3
import pytest
from moto import mock_aws
from moto.core.responses import ActionResult
from moto.s3.responses import S3Response
from mypy_boto3_s3 import S3Client
from tests.cli import serving_stack
from tests.cli.deployed import Stdin, deploy, prompt_table
from tests.cli.permissions import recorded_calls, refused_calls
from tests.support.moto_state import set_up

from bucketsum_cli.arguments.target import Target
from bucketsum_cli.aws import stack_changes
from bucketsum_cli.aws.connection import Connection
from bucketsum_cli.aws.stack import Stack
from bucketsum_cli.buckets.attachments import notifications
from bucketsum_cli.dead_letters import queue as dead_letter_queue
from bucketsum_cli.emulator import emulator_state, process
from bucketsum_cli.emulator.emulator_state import LocalAws, LocalProject
from bucketsum_cli.machine.folders import HOME_VARIABLE
from bucketsum_cli.main import main
from bucketsum_cli.snapshots import tables
from bucketsum_cli.snapshots.database import DuckDb
from bucketsum_cli.terminal.hints import remember_options

SleepReplacer = Callable[[Callable[[float], object]], None]


class Run(Protocol):
    """Runs the command with these arguments; *answer* is what the person types."""

    def __call__(self, *arguments: object, answer: str | bytes = "") -> Ended:
        """Run it to its end."""
        ...


_OWN_VIEWS: Final[set[tuple[int, ...]]] = set()
_CLIENTS: Final[dict[tuple[object, ...], object]] = {}
_CLIENTS_DIFFER_BY: Final = re.compile(r"AWS_|.*_(PROXY|CA_BUNDLE)$", re.IGNORECASE).match


@dataclass(frozen=True, slots=True)
class Ended:
    """Exit status and output of the command."""

    status: int
    out: str
    err: str

    @property
    def document(self) -> Any:  # noqa: ANN401 - whatever JSON can hold
        """The JSON document on stdout, which must be all of it."""
        return json.loads(self.out)

    def assert_done(self) -> Ended:
        """The exit status says that it is done; returns this."""
        assert self.status == 0, self.err
        return self

    def assert_no(self) -> Ended:
        """The exit status says that the answer is no; returns this."""
        assert self.status == 1, self.err
        return self

    def assert_refused(self, *reasons: str) -> None:
        """The exit status says that it could not be done, and stderr has each of *reasons*."""
        shown = (self.err, " ".join(self.err.split()))
        assert self.status == 2
        assert [r for r in reasons if not any(r in err for err in shown)] == [], self.err


@pytest.fixture
def replace_sleep(monkeypatch: pytest.MonkeyPatch) -> SleepReplacer:
    """Replaces `time.sleep` in this thread: those of earlier tests may still sleep, and must."""
    sleep, this_thread = time.sleep, threading.get_ident()

    def replace(pause: Callable[[float], object]) -> None:
        def here(seconds: float) -> None:
            (pause if threading.get_ident() == this_thread else sleep)(seconds)

        monkeypatch.setattr(time, "sleep", here)

    return replace


@pytest.fixture(autouse=True)
def no_emulator_of_the_developer(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Let no test find the emulator of the clone that the command is in, or a person's files.

    Nor the options of the command that ran before in this process.
    """
    remember_options({})
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.setattr(emulator_state, "_INSTALLED_FROM", tmp_path / "no-clone")
    monkeypatch.delenv(HOME_VARIABLE, raising=False)


@pytest.fixture(autouse=True)
def clients_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make a client once for each connection and environment: 5 ms, eight times in a test.

    What a test registers with it stays.
    """
    make = Connection.client

    def kept(connection: Connection, service: str) -> object:
        place = (connection.region, connection.endpoint, connection.ca_bundle)
        names = filter(_CLIENTS_DIFFER_BY, sorted(os.environ))
        environment = ((name, os.environ[name]) for name in names)
        key = (service, place, connection.session.profile, *environment)
        if key not in _CLIENTS:
            _CLIENTS[key] = make(connection, service)
        return _CLIENTS[key]

    monkeypatch.setattr(Connection, "client", kept)


@pytest.fixture(autouse=True)
def views_are_compared_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Compare the views in a file of DuckDB with ours once, while nobody writes to it."""
    compare = tables._is_ours  # noqa: SLF001 - half of the time of a question

    def is_ours(local: DuckDb, name: str) -> bool:
        paths = "SELECT path FROM duckdb_databases() WHERE database_name = $name"
        [(path,)] = local.connection.execute(paths, {"name": name}).fetchall()
        stat = Path(path).stat()
        file = (stat.st_dev, stat.st_ino, stat.st_size, stat.st_mtime_ns)
        if file not in _OWN_VIEWS and compare(local, name):
            _OWN_VIEWS.add(file)
        return file in _OWN_VIEWS

    monkeypatch.setattr(tables, "_is_ours", is_ours)


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> LocalProject:
    """The current folder is a project in which nothing runs."""
    (tmp_path / "layers" / "bucketsum").mkdir(parents=True)
    (tmp_path / "template.yaml").touch()
    monkeypatch.chdir(tmp_path)
    return LocalProject.at(tmp_path)


@pytest.fixture
def running_emulator(project: LocalProject, monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    """The stack of an emulator that seems to run in the project, with unlimited workers."""
    aws = LocalAws(1, "https://127.0.0.1:1", "us-east-1", "bucketsum", "ca.pem")
    emulator_state.save(project, aws)
    (project.home / "worker.json").write_text('{"cgroup_roots": null, "lambda_network": true}')
    monkeypatch.setattr(process, "lives", lambda _pid, _home: True)
    stack = SimpleNamespace(bucket="b", table="t", function="f")
    status = importlib.import_module("bucketsum_cli.commands.local.status")
    monkeypatch.setattr(status, "find_local_stack", lambda _project: stack)
    return stack


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    """The command, in this process; the documented policies allow its calls."""
    calls = recorded_calls(monkeypatch)

    def run_command(*arguments: object, answer: str | bytes = "") -> Ended:
        calls.clear()
        monkeypatch.setattr(sys, "argv", ["bucketsum", *map(str, arguments)])
        typed = Stdin(answer if isinstance(answer, bytes) else answer.encode())
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(typed))
        capsys.readouterr()
        before = set(threading.enumerate())
        with pytest.raises(SystemExit) as ending:
            main()
        for thread in set(threading.enumerate()) - before:
            if not thread.name.startswith("duckdb"):  # which goes on to the next command
                thread.join()  # as Python does at the exit, and before moto ends
        printed = capsys.readouterr()
        status = ending.value.code
        assert isinstance(status, int)
        if arguments:
            assert refused_calls(list(map(str, arguments)), calls) == []
        return Ended(status, printed.out, printed.err)

    return run_command


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> Callable[[int], None]:
    """Have rich believe that it writes to a terminal with so many columns."""

    def believe(columns: int) -> None:
        monkeypatch.setenv("FORCE_COLOR", "1")
        monkeypatch.setenv("TERM", "xterm-256color")
        monkeypatch.setenv("COLUMNS", str(columns))

    return believe


@pytest.fixture
def stack(monkeypatch: pytest.MonkeyPatch) -> Iterator[Stack]:
    """A deployed stack without sweeps, whose dead-letter queue tells at once that it is empty."""
    monkeypatch.setattr(dead_letter_queue, "_POLL_SECONDS", 0)
    with mock_aws():
        set_up(deploy)
        yield Target().find()


@pytest.fixture
def s3(monkeypatch: pytest.MonkeyPatch) -> Iterator[S3Client]:
    """An account with a stack that serves buckets, and one of somebody else; nothing waits."""
    monkeypatch.setattr(stack_changes, "_POLL_SECONDS", 0)
    monkeypatch.setattr(notifications, "_PAUSE_SECONDS", 0)
    monkeypatch.setenv("BUCKETSUM_STACK", serving_stack.NAME)
    serving_stack.complete_moto(monkeypatch)
    with mock_aws():
        set_up(serving_stack.create_stack)
        client = boto3.client("s3")
        client.create_bucket(Bucket=serving_stack.PHOTOS)
        client.put_bucket_ownership_controls(  # AWS's default
            Bucket=serving_stack.PHOTOS,
            OwnershipControls={"Rules": [{"ObjectOwnership": "BucketOwnerEnforced"}]},
        )
        yield client


@pytest.fixture
def prompt_hasher(stack: Stack, monkeypatch: pytest.MonkeyPatch) -> Stack:
    """The stack, with a hasher that has always just finished."""
    monkeypatch.setattr(Stack, "digests_table", prompt_table)
    return stack


@pytest.fixture
def eventbridge_returned(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let moto return EventBridge's configuration, which it stores and leaves out."""
    serialized = S3Response.serialized

    def with_eventbridge(response: S3Response, answer: ActionResult) -> Any:  # noqa: ANN401 - moto's
        if response.data.get("Action") == "GetBucketNotificationConfiguration":
            bucket: Any = response.backend.get_bucket(response.bucket_name)
            if bucket.notification_configuration.event_bridge is not None:
                result: Any = answer.result
                result["EventBridgeConfiguration"] = {}
        return serialized(response, answer)

    monkeypatch.setattr(S3Response, "serialized", with_eventbridge)
