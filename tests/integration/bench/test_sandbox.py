"""The sandbox in this machine's kernel: its limits, its counts, and its removal."""

import hashlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final, NamedTuple

import pytest
from bench.sandbox import requirements
from bench.sandbox.network import PREFIX, SERVER_ADDRESS
from bench.sandbox.objects import BUCKET, COMPARED, StoredObject, make_object
from bench.sandbox.profiles import Profile
from bench.sandbox.requirements import CannotMakeSandboxError, missing
from bench.sandbox.sandbox import Sandbox
from bench.sandbox.server import PROJECT, Server, start_server
from tests.support.checksums import base64_of

from bucketsum.checksums.running import running

SMALL: Final = Profile("small", 128, 625, 3_000_000)
ENV: Final = {"PATH": os.environ["PATH"], "PYTHONPATH": str(PROJECT)}


def groups() -> set[Path]:
    """The control groups of sandboxes, wherever they are mounted."""
    return set(Path("/sys/fs/cgroup").glob(f"**/{PREFIX}-*"))


def namespaces() -> set[str]:
    """The network namespaces of sandboxes."""
    return {path.name for path in Path("/run/netns").glob(f"{PREFIX}-*")}


@pytest.fixture
def sandbox() -> Iterator[Sandbox]:
    """An entered sandbox; skips if this machine cannot make it."""
    new_sandbox = a_sandbox()
    with new_sandbox:
        yield new_sandbox


def a_sandbox() -> Sandbox:
    """A sandbox that is not entered yet; skips if this machine cannot make it."""
    try:
        with Sandbox(SMALL):
            pass
    except CannotMakeSandboxError as error:
        pytest.skip(str(error))
    return Sandbox(SMALL)


@pytest.fixture
def known(tmp_path: Path) -> StoredObject:
    """An object of 3 MB."""
    return make_object(tmp_path / "objects", SMALL.object_bytes)


@pytest.fixture
def server(sandbox: Sandbox, known: StoredObject, tmp_path: Path) -> Server:
    """An S3 in the sandbox, with that object."""
    assert known.size_bytes
    (tmp_path / "server").mkdir()
    return start_server(sandbox, tmp_path / "server", tmp_path / "objects")


class Ended(NamedTuple):
    """Exit status, standard output, and the kernel's kills for want of memory."""

    status: int
    output: str
    kills: int


def run(sandbox: Sandbox, argv: list[str], log: Path) -> Ended:
    """Run a program within both limits from its start."""
    inside = sandbox.start(argv, ENV, log)
    inside.limit_cpu()
    output, _ = inside.process.communicate(b"\n")  # ignores a closed pipe
    return Ended(inside.process.returncode, output.decode(), sandbox.finish(inside))


def is_gone(pid: str) -> bool:
    """Whether a process that was killed has ended; the kernel takes its time for that."""
    program = Path("/proc", pid, "exe")
    deadline = time.monotonic() + 30
    while program.exists() and time.monotonic() < deadline:
        time.sleep(0.01)
    return not program.exists()


Answer = tuple[int, str, dict[str, str]]
"""Status, SHA-1 of the body, headers."""

ASKS: Final = """
import hashlib, http.client, json, ssl, sys
_, host, authority, path, headers = sys.argv
context = ssl.create_default_context(cafile=authority)
connection = http.client.HTTPSConnection(host, context=context)
connection.connect()
cipher = connection.sock.cipher()[:2]
answers = []
for _ in range(2):
    connection.request("GET", path, headers=json.loads(headers))
    answer = connection.getresponse()
    body = answer.read()
    answers.append([answer.status, hashlib.sha1(body).hexdigest(), dict(answer.getheaders())])
print(json.dumps([cipher, answers]))
"""
"""Two requests over one connection."""


def ask(
    sandbox: Sandbox, server: Server, path: str, headers: dict[str, str], log: Path
) -> list[Answer]:
    """The server's two answers in the sandbox; checks the cipher."""
    argv = [sys.executable, "-c", ASKS, SERVER_ADDRESS, str(server.certificates), path]
    ended = run(sandbox, [*argv, json.dumps(headers)], log)
    assert ended.status == 0, log.read_text()
    cipher, answers = json.loads(ended.output)
    assert tuple(cipher) == ("TLS_AES_256_GCM_SHA384", "TLSv1.3")
    assert len(answers) == 2
    return [(status, digest, fields) for status, digest, fields in answers]


def test_the_server_answers_as_s3_does(
    sandbox: Sandbox, server: Server, known: StoredObject, tmp_path: Path
) -> None:
    """Whole objects, ranges, entity tags and refusals, twice over one connection of TLS 1.3."""
    log, path = tmp_path / "log", f"/{BUCKET}/{known.key}"
    content = (tmp_path / "objects" / BUCKET / known.key).read_bytes()

    for status, digest, headers in ask(sandbox, server, path, {}, log):
        assert (status, digest) == (200, known.sha1)
        assert headers["Content-Length"] == str(known.size_bytes)
        assert headers["Last-Modified"]
        tag = headers["ETag"]
        assert "x-amz-checksum-crc64nvme" not in headers
    checksum = running("crc64nvme")
    checksum.update(content)
    second = f"/{BUCKET}/{COMPARED}{known.key}"
    for status, digest, headers in ask(sandbox, server, second, {}, log):
        assert (status, digest) == (200, known.sha1)
        assert headers["x-amz-checksum-crc64nvme"] == base64_of(checksum.digest())
    middle = {"Range": "bytes=1000000-1999999", "If-Match": tag}
    for status, digest, headers in ask(sandbox, server, path, middle, log):
        assert (status, digest) == (206, hashlib.sha1(content[1_000_000:2_000_000]).hexdigest())
        assert headers["Content-Range"] == f"bytes 1000000-1999999/{known.size_bytes}"
    other = {"If-Match": '"other"', "Connection": "close"}  # after a 412, nginx closes unasked
    assert {answer[0] for answer in ask(sandbox, server, path, other, log)} == {412}
    assert {answer[0] for answer in ask(sandbox, server, f"/{BUCKET}/none", {}, log)} == {404}
    assert {answer[0] for answer in ask(sandbox, server, f"/{BUCKET}?list-type=2", {}, log)} == {
        200
    }


def test_a_program_sees_only_the_network_of_the_sandbox(sandbox: Sandbox, tmp_path: Path) -> None:
    """No device of the machine is inside: what is measured comes over the link."""
    listing = "import socket; print(sorted(name for _, name in socket.if_nameindex()))"
    ended = run(sandbox, [sys.executable, "-c", listing], tmp_path / "log")
    assert ended.output.split()[0].startswith("['box1'")
    assert "eth" not in ended.output


def test_a_kill_for_too_much_memory_is_counted(sandbox: Sandbox, tmp_path: Path) -> None:
    """A program may use half of the function's memory; it is killed at twice the memory."""
    for size_mib, status, kills in ((64, 0, 0), (256, -signal.SIGKILL, 1)):
        taking = f"input(); taken = b'x' * ({size_mib} << 20)"
        ended = run(sandbox, [sys.executable, "-c", taking], tmp_path / "log")
        assert (ended.status, ended.kills) == (status, kills)


def test_the_cpu_share_is_that_of_lambda(sandbox: Sandbox, tmp_path: Path) -> None:
    """A program of 128 MB gets 7.2 % of a core, however much it would take."""
    busy = (
        "import sys, time; sys.stdin.readline()\n"
        "cpu, wall = time.process_time(), time.monotonic()\n"
        "while time.monotonic() < wall + 0.6: pass\n"
        "print((time.process_time() - cpu) / (time.monotonic() - wall))"
    )
    ended = run(sandbox, [sys.executable, "-c", busy], tmp_path / "log")
    assert float(ended.output) < 0.15


def test_a_child_that_outlives_its_parent_is_ended_too(sandbox: Sandbox, tmp_path: Path) -> None:
    """A program that a reader has started does not use the next reader's link."""
    leaving = (
        "import subprocess, sys; sys.stdin.read();"  # as each reader: until then it is in no group
        "p = subprocess.Popen(['sleep', '600'], stdout=subprocess.DEVNULL);"
        "print(p.pid)"
    )
    ended = run(sandbox, [sys.executable, "-c", leaving], tmp_path / "log")
    assert is_gone(ended.output.strip())


def test_a_program_that_cannot_start_is_a_failure_with_its_reason(
    sandbox: Sandbox, tmp_path: Path
) -> None:
    """Not an error of the sandbox: there may be another reader after it."""
    ended = run(sandbox, ["no-such-program"], tmp_path / "log")
    assert ended.status != 0
    assert "no-such-program" in (tmp_path / "log").read_text()


def test_nothing_is_left_after_an_error(tmp_path: Path) -> None:
    """Namespaces, control groups and processes go, also when an interruption ends the sandbox."""
    new_sandbox = a_sandbox()
    before = groups(), namespaces()
    with suppress(KeyboardInterrupt), new_sandbox:
        server = new_sandbox.serve(["sleep", "600"], ENV, tmp_path / "log")
        inside = new_sandbox.start(["sleep", "600"], ENV, tmp_path / "log")
        assert groups() > before[0]
        assert namespaces() > before[1]
        raise KeyboardInterrupt
    assert (groups(), namespaces()) == before
    assert server.poll() is not None
    assert inside.process.poll() is not None


def test_two_sandboxes_at_once_do_not_meet(sandbox: Sandbox, tmp_path: Path) -> None:
    """Each has names and a network of its own, so both servers can have the same address."""
    with Sandbox(SMALL) as other:
        for box, folder in ((sandbox, "one"), (other, "other")):
            make_object(tmp_path / folder, 10, folder)
            (tmp_path / f"{folder}-server").mkdir()
            server = start_server(box, tmp_path / f"{folder}-server", tmp_path / folder)
            (first, _) = ask(box, server, f"/{BUCKET}/{folder}", {}, tmp_path / "log")
            assert first[0] == 200


HANGS: Final = """
import sys
from pathlib import Path
from bench.sandbox.sandbox import Sandbox
from bench.sandbox.profiles import PROFILES
with Sandbox(PROFILES[0]) as sandbox:
    server = sandbox.serve(["sleep", "600"], {"PATH": "/usr/bin:/bin"}, Path(sys.argv[1]))
    print(server.pid, flush=True)
    sys.stdin.read()
"""


def test_the_next_sandbox_removes_what_a_killed_one_left(tmp_path: Path) -> None:
    """SIGKILL lets nobody clean up; a living neighbour's sandbox is left alone all the same."""
    with (
        a_sandbox(),
        subprocess.Popen(
            [sys.executable, "-c", HANGS, tmp_path / "log"],
            env=ENV | {"PYTHONPATH": f"{PROJECT}:{PROJECT / 'cli'}:{PROJECT / 'layers/bucketsum'}"},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        ) as other,
    ):
        assert other.stdout is not None
        served = other.stdout.readline().strip()
        own, killed = f"{PREFIX}-{os.getpid()}-", f"{PREFIX}-{other.pid}-"
        with Sandbox(SMALL):
            assert any(name.startswith(killed) for name in namespaces())
        other.kill()
        other.wait()
        with Sandbox(SMALL):
            left = namespaces() | {path.name for path in groups()}
        assert not any(name.startswith(killed) for name in left)
        assert any(name.startswith(own) for name in left)
        assert is_gone(served)


def test_where_something_is_missing_nothing_is_made(monkeypatch: pytest.MonkeyPatch) -> None:
    """The refusal comes before the first namespace."""
    before = groups(), namespaces()
    lacking = missing(which=lambda _: None, platform="linux", user=0)
    monkeypatch.setattr(requirements, "missing", lambda: lacking)

    with pytest.raises(CannotMakeSandboxError, match="nginx-light"), Sandbox(SMALL):
        pass

    assert (groups(), namespaces()) == before
