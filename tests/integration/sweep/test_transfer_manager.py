"""Java's transfer manager as a client of transfers, against a hostile S3 over TLS."""

import os
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, closing
from pathlib import Path
from typing import Final

import pytest
from bench.maven import ProgramUnavailableError
from bench.workloads.languages.transfer_manager import built
from tests.support.s3_faults import Fault
from tests.support.s3_server import HostileS3, hostile_s3
from tests.support.server_programs import SHORT_LIVED
from tests.support.tls import own_tls

from bucketsum.errors import SourceUnavailable
from bucketsum_cli.tune.workloads.transfer.transfer_manager import PROGRAM, transfer_manager
from bucketsum_lab.protocol.measuring import children_cpu_seconds
from bucketsum_lab.protocol.parameters import read_policy
from bucketsum_lab.workloads.transfer.clients import Access, Fetch
from bucketsum_lab.workloads.transfer.sinks import FileSink

THREADS: Final = 2
BODY: Final = bytes(range(256)) * 4_000


def client() -> AbstractContextManager[Fetch]:
    """A client of the bucket ``b`` that two threads share."""
    return transfer_manager(Access("b", "us-east-1", read_policy(1, 65_536, 512), THREADS))


def fetched(fetch: Fetch, key: str, folder: Path) -> bytes:
    """The bytes of the file that the client wrote."""
    path = folder / key
    with closing(FileSink(path)) as sink:
        fetch(key, 0, sink)
    return path.read_bytes()


@pytest.fixture(scope="module")
def s3(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HostileS3]:
    """An S3 with TLS whose authority only AWS_CA_BUNDLE names; the program is on PATH.

    Skips if it cannot be built here.
    """
    context, authority = own_tls(tmp_path_factory.mktemp("tls"))
    with pytest.MonkeyPatch.context() as patch, hostile_s3(context) as server:
        patch.setenv("JAVA_TOOL_OPTIONS", " ".join(SHORT_LIVED))
        try:
            patch.setenv("PATH", f"{built()}:{os.environ['PATH']}")
        except ProgramUnavailableError as error:
            pytest.skip(str(error))
        patch.setenv("AWS_CA_BUNDLE", str(authority))
        patch.setenv("AWS_ENDPOINT_URL_S3", server.endpoint_url)
        yield server


@pytest.fixture(scope="module")
def used(s3: HostileS3) -> Iterator[Fetch]:
    """A client, whose program takes longer to start than all files here."""
    assert s3.endpoint_url
    with client() as fetch:
        yield fetch


def test_files_share_the_connections(s3: HostileS3, used: Fetch, tmp_path: Path) -> None:
    """Each file has its own bytes, and there are no more connections than threads."""
    bodies = {f"{number}.bin": BODY[number:] for number in range(8)}
    for key, body in bodies.items():
        s3.put(f"b/{key}", body)
    before = s3.connections
    with ThreadPoolExecutor(len(bodies)) as pool:
        read = pool.map(lambda key: fetched(used, key, tmp_path), bodies)
        assert dict(zip(bodies, read, strict=True)) == bodies
    assert s3.connections - before <= THREADS


def test_a_missing_object_ends_nothing_else(s3: HostileS3, used: Fetch, tmp_path: Path) -> None:
    """Its error has S3's words; the next file arrives, whose first request was hung up."""
    s3.put("b/here", BODY)
    s3.script_of("b/here", Fault(hang_up=True))
    with pytest.raises(SourceUnavailable, match=r"could not copy gone: .*does not exist"):
        fetched(used, "gone", tmp_path)
    assert fetched(used, "here", tmp_path) == BODY


def test_an_unknown_authority_is_refused(
    s3: HostileS3, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Certificates are checked."""
    s3.put("b/here", BODY)
    monkeypatch.delenv("AWS_CA_BUNDLE")
    with client() as used, pytest.raises(SourceUnavailable, match=r"could not copy here: .*SSL"):
        fetched(used, "here", tmp_path)


def test_a_program_that_ends_fails_every_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Those that wait, and later ones, with what it wrote to standard error."""
    fake = tmp_path / PROGRAM
    fake.write_text("#!/bin/sh\nread line\necho no memory >&2\nexit 3\n")
    fake.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    with client() as used:
        for key in ("first", "second"):
            with pytest.raises(SourceUnavailable, match=f"not copy {key}: it ended: no memory"):
                fetched(used, key, tmp_path)


_BUSY: Final = """
import time
while time.process_time() < 0.1: pass
print(flush=True)
input()
"""


def test_cpu_time_of_a_process_that_still_runs_is_known() -> None:
    """So that the start of a warm client does not count."""
    before = children_cpu_seconds()
    with subprocess.Popen(
        [sys.executable, "-c", _BUSY], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdout
        process.stdout.readline()
        running = children_cpu_seconds()
    if sys.platform == "linux":
        assert running - before > 0.05
    assert children_cpu_seconds() >= running
