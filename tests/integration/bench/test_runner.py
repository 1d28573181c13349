"""Readers run in a real sandbox: what became of each is lines as it was."""

import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Final

import pytest
from bench.readers.environments import Environments
from bench.readers.registry import BASELINE, ENTRIES, ComparedReader
from bench.readers.runner import Runner
from bench.readers.samples import ReaderOutcome
from bench.sandbox import calibration
from bench.sandbox.objects import make_object
from bench.sandbox.profiles import Profile
from bench.sandbox.requirements import CannotMakeSandboxError
from bench.sandbox.sandbox import Sandbox
from bench.sandbox.server import Server, start_server

from bucketsum_cli.machine.proxy import BURST_BYTES

SHAPE: Final = Profile("small", 128, 625, 3_000_000)
WARM: Final = Profile("warm", 1769, 625, 3_000_000, burst_bytes=BURST_BYTES, warm=True)
ENVIRONMENTS: Final = Environments(Path(sys.executable), {}, {}, {})
BASELINE_ENTRY: Final = next(entry for entry in ENTRIES if entry.name == BASELINE)


@pytest.fixture(autouse=True)
def nginx_has_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its log has all requests a second later, also on a busy machine."""
    monkeypatch.setattr("bench.sandbox.server.LOG_SECONDS", 1.0)


def program(name: str, *argv: str) -> ComparedReader:
    """A reader that is a program, with texts in braces as entries have them."""
    return ComparedReader(name, "piped", {"argv": list(argv)})


FAILS: Final = program("fails", "sh", "-c", "echo no luck >&2; exit 3")
GREEDY: Final = program("greedy", sys.executable, "-c", "b'x' * (200 << 20)")
LIES: Final = program("lies", "echo", "something else")


@contextmanager
def sandboxed(shape: Profile, folder: Path) -> Iterator[tuple[Sandbox, Server]]:
    """A sandbox with a server of the profile's object; skips if this machine can make none."""
    make_object(folder / "objects", shape.object_bytes)
    (folder / "sandbox").mkdir()
    sandbox = Sandbox(shape)
    with ExitStack() as stack:
        try:
            stack.enter_context(sandbox)
        except CannotMakeSandboxError as error:
            pytest.skip(str(error))
        yield sandbox, start_server(sandbox, folder / "sandbox", folder / "objects")


def runner(sandbox: Sandbox, server: Server, folder: Path) -> Runner:
    """A runner of readers in this Python."""
    known = make_object(folder / "objects", sandbox.profile.object_bytes)
    return Runner(sandbox, server, known, ENVIRONMENTS, folder / "sandbox")


def test_each_outcome_is_reported(tmp_path: Path) -> None:
    """A good sample has its numbers; a failed, killed or wrong reader has its reason."""
    with sandboxed(SHAPE, tmp_path) as (sandbox, server):
        entries = [BASELINE_ENTRY, FAILS, GREEDY, LIES]
        samples = list(runner(sandbox, server, tmp_path).rounds(entries, 1))
    good, failed, greedy, lying = samples

    assert (good.outcome, good.size_bytes) == (ReaderOutcome.GOOD, SHAPE.object_bytes)
    assert good.seconds > 0
    assert good.cpu_seconds > 0
    assert good.gets == 1
    assert 10e6 < good.peak_bytes < 128 * 1024 * 1024
    assert failed.outcome == ReaderOutcome.FAILED
    assert "ended with 3" in failed.detail
    assert (greedy.outcome, greedy.kills) == (ReaderOutcome.OUT_OF_MEMORY, 1)
    assert lying.outcome == ReaderOutcome.WRONG
    assert {sample.size_bytes for sample in (failed, greedy, lying)} == {0}


def test_a_warm_reading_is_the_second_over_open_connections(tmp_path: Path) -> None:
    """The server sees two requests of the reader, and the burst is waited for before the second."""
    with sandboxed(WARM, tmp_path) as (sandbox, server):
        sample = runner(sandbox, server, tmp_path).sample(BASELINE_ENTRY, 0)
        lines = requests(server)
    assert (sample.outcome, sample.gets) == (ReaderOutcome.GOOD, 1)
    assert len([line for line in lines if "Boto3" in line]) == 2


def requests(server: Server) -> list[str]:
    """The server's log, once it has written all of it."""
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        lines = server.requests.read_text().splitlines()
        if len([line for line in lines if "Boto3" in line]) > 1:
            return lines
        time.sleep(0.05)
    return lines


def test_calibration_measures_the_speed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One line for one connection and one for many; how fast is for people to judge."""
    monkeypatch.setattr(calibration, "SECONDS", 0.2)
    monkeypatch.setattr(calibration, "OBJECT_BYTES", 3_000_000)
    with sandboxed(replace(SHAPE, link_mbit_per_s=80), tmp_path) as (sandbox, server):
        lines = calibration.calibrate(sandbox, server, tmp_path / "objects")
    assert [line.what for line in lines] == ["1 connection", "2 connections"]
    assert all(line.mb_per_s > 0 for line in lines)
