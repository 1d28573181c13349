"""The workload transfer, with every client against a server of moto."""

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import boto3
import pytest
from mypy_boto3_s3 import S3Client
from tests.support.moto_server import moto_server
from tests.support.sweeps import TRANSFER

from bucketsum.digest import digest_of
from bucketsum.errors import BucketsumError
from bucketsum.s3.source import CLIENT_CONFIG
from bucketsum_cli.tune.workloads.transfer import programs as programs_module
from bucketsum_cli.tune.workloads.transfer import transfer_manager
from bucketsum_lab.errors import BadSweep
from bucketsum_lab.measure.prober import Prober
from bucketsum_lab.plan.generated_objects import GeneratedObjects
from bucketsum_lab.protocol.objects import file_key
from bucketsum_lab.protocol.probe import KnownObject
from bucketsum_lab.results.record_values import SAMPLE_VALUES
from bucketsum_lab.workloads.transfer import clients, file_times, model, trial
from bucketsum_lab.workloads.transfer.model import Destination
from bucketsum_lab.workloads.transfer.workload import TransferWorkload

BUCKET: Final = "sweeps"
SET_BYTES: Final = 500_000
KEY: Final = f"objects/transfer-{SET_BYTES}.jsonl"
LIBRARIES: Final = ("libcurl", "boto3", "boto3-per-file", "s3transfer")


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    """The address of a server with an S3 of its own; data sets have small files."""
    with moto_server() as address, pytest.MonkeyPatch.context() as patch:
        patch.setattr(model, "FILE_BYTES_MEAN", SET_BYTES // 4)
        yield address


@pytest.fixture
def s3(server: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[S3Client]:
    """A client of the hasher for that server; the process knows the server too, and a /tmp.

    After each test /tmp is empty.
    """
    monkeypatch.setenv("AWS_ENDPOINT_URL", server)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    client = boto3.client("s3", config=CLIENT_CONFIG)
    client.create_bucket(Bucket=BUCKET)
    yield client
    assert not list(tmp_path.iterdir())


@pytest.fixture
def known(s3: S3Client) -> KnownObject:
    """A data set of four files."""
    return GeneratedObjects(s3, BUCKET).ensured(KEY, SET_BYTES, TRANSFER)


def probed(s3: S3Client, known: KnownObject, **variant: str) -> dict[str, Any]:
    """The answer to one probe; *variant* replaces the parameters' defaults."""
    return dict(Prober(s3).probe(event_of(known, **variant), 512))


def event_of(known: KnownObject, **variant: str) -> Any:  # noqa: ANN401 - a probe's event
    """The event of that probe."""
    own = {parameter.name: parameter.default_value for parameter in TRANSFER.parameters}
    return {
        **known, "bucket": BUCKET, "workload": "transfer", "chunk_bytes": 65_536, "streams": 1,
        "variant": own | variant,
    }  # fmt: skip


@pytest.mark.parametrize("destination", Destination)
@pytest.mark.parametrize("client", LIBRARIES)
def test_every_client_brings_every_file(
    s3: S3Client, known: KnownObject, client: str, destination: str
) -> None:
    """To each destination; the times of each file follow each other."""
    answer = probed(s3, known, client=client, destination=destination, pattern="limited:2")
    assert (answer["status"], answer["digest_ok"], answer["size_bytes"]) == ("ok", True, SET_BYTES)
    assert (answer["files"], answer["threads"], answer["drained_bytes"]) == (4, 2, 0)
    own = set(TransferWorkload.sample_names)
    assert own <= set(answer) <= {*SAMPLE_VALUES, *own}
    times = file_times.read(answer["file_times"])
    assert sum(time.size_bytes for time in times) == SET_BYTES
    for request in times:
        assert 0 <= request.intended <= request.started < (request.first_byte or 0) <= request.ended
        assert request.ended <= answer["seconds"] + 0.01


@pytest.mark.parametrize("pattern", ["serial", "parallel", "saturated", "limited", "staccato:50"])
def test_every_pattern_brings_every_file(s3: S3Client, known: KnownObject, pattern: str) -> None:
    """The number of threads is in the answer."""
    answer = probed(s3, known, pattern=pattern, warm="warm")
    assert (answer["status"], answer["files"]) == ("ok", 4)
    threads = {"serial": 1, "limited": min(4, os.cpu_count() or 1)}
    assert answer["threads"] == threads.get(pattern, 4)


@pytest.mark.parametrize("destination", Destination)
def test_a_wrong_byte_fails_the_sample(s3: S3Client, known: KnownObject, destination: str) -> None:
    """However fast it was; the cause names the file. Nothing stays in /tmp."""
    key = file_key(KEY, "0003.bin")
    body = s3.get_object(Bucket=BUCKET, Key=key)["Body"].read()
    s3.put_object(Bucket=BUCKET, Key=key, Body=body[:-1] + bytes([body[-1] ^ 1]))
    answer = probed(s3, known, destination=destination)
    s3.put_object(Bucket=BUCKET, Key=key, Body=body)
    assert (answer["status"], answer["error"]) == ("failed", "WrongDigest")
    assert answer["cause"] == "1 of 4 files have other bytes: 0003.bin"


@pytest.mark.parametrize("pattern", ["serial", "parallel", "limited:2"])
def test_a_missing_file_ends_the_transfer(s3: S3Client, known: KnownObject, pattern: str) -> None:
    """With the error of the client, and nothing in /tmp."""
    key = file_key(KEY, "0002.bin")
    body = s3.get_object(Bucket=BUCKET, Key=key)["Body"].read()
    s3.delete_object(Bucket=BUCKET, Key=key)
    try:
        with pytest.raises(BucketsumError):
            probed(s3, known, pattern=pattern)
    finally:
        s3.put_object(Bucket=BUCKET, Key=key, Body=body)


def test_another_list_is_a_failed_sample(s3: S3Client, known: KnownObject) -> None:
    """The list is checked before the files."""
    other: KnownObject = {**known, "sha1": "0" * 40}
    answer = probed(s3, other)
    assert (answer["status"], answer["error"]) == ("failed", "WrongDigest")


def test_the_burst_is_spent_first_if_that_is_asked(
    s3: S3Client, known: KnownObject, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By reads that are neither measured nor billed."""
    monkeypatch.setattr(trial, "DRAIN_BYTES", 2 * SET_BYTES)
    answer = probed(s3, known, network="sustained")
    assert (answer["status"], answer["drained_bytes"]) == ("ok", 2 * SET_BYTES)
    assert answer["excluded_ms"] > 0
    assert len(file_times.read(answer["file_times"])) == 4


_PROGRAMS: Final = {
    "s5cmd": '[ "$1 $2 $3" = "--endpoint-url $AWS_ENDPOINT_URL cp" ] && from="$4" to="$5"',
    "aws": '[ "$1 $2 $5" = "s3 cp --only-show-errors" ] && from="$3" to="$4"',
    "rclone": '[ "$1 ${2%/objects/*}" = "copyto :s3,env_auth=true,region=us-east-1,'
    "provider=Other,force_path_style=true,endpoint='$AWS_ENDPOINT_URL':sweeps\" ] "
    '&& from="$2" to="$3"',
}
"""The arguments that each program needs; it copies from a folder with the data set's files."""

_MANAGER: Final = """#!/bin/sh
[ "$*" = "sweeps 4 $AWS_ENDPOINT_URL" ] || exit 3
while read key path; do cp "{folder}/${{key##*/}}" "$path"; printf "$path\\t\\n"; done
"""
"""The same for all files in one process."""


@pytest.fixture
def programs(
    s3: S3Client,
    known: KnownObject,
    tmp_path_factory: pytest.TempPathFactory,
    monkeypatch: pytest.MonkeyPatch,
) -> Path:
    """The folder of the programs, which is the first in the PATH."""
    folder = tmp_path_factory.mktemp("programs")
    for name in ("warm-up", *(f"{number:04d}.bin" for number in range(1, 5))):
        body = s3.get_object(Bucket=BUCKET, Key=file_key(known["key"], name))["Body"].read()
        (folder / name).write_bytes(body)
    for name, arguments in _PROGRAMS.items():
        program = folder / name
        copy = f'{arguments} && exec cp "{folder}/${{from##*/}}" "$to"'
        refusal = '[ "$AWS_CA_BUNDLE" ] && echo custom CA >&2 && exit 4\n' * (name == "rclone")
        program.write_text(f"#!/bin/sh\n{refusal}{copy}\necho no such thing >&2\nexit 3\n", "utf-8")
        program.chmod(0o755)
    manager = folder / transfer_manager.PROGRAM
    manager.write_text(_MANAGER.format(folder=folder), "utf-8")
    manager.chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")
    monkeypatch.setattr(clients, "CLIENTS", {**clients.CLIENTS})
    monkeypatch.setattr(programs_module, "CLIENTS", clients.CLIENTS)
    programs_module.add()
    return folder


@pytest.mark.parametrize("client", ["aws-cli", "s5cmd", "rclone"])
def test_a_program_writes_every_file(
    s3: S3Client,
    known: KnownObject,
    programs: Path,
    client: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Its CPU time counts, its first byte is unknown, and rclone gets no AWS_CA_BUNDLE."""
    monkeypatch.setenv("AWS_CA_BUNDLE", "/certificates.pem")
    assert (programs / "0001.bin").exists()
    answer = probed(s3, known, client=client, pattern="parallel")
    assert (answer["status"], answer["size_bytes"]) == ("ok", SET_BYTES)
    assert {time.first_byte for time in file_times.read(answer["file_times"])} == {None}
    assert answer["cpu_seconds"] > 0


@pytest.mark.usefixtures("programs")
@pytest.mark.parametrize("warm", ["cold", "warm"])
def test_a_transfer_manager_writes_every_file(s3: S3Client, known: KnownObject, warm: str) -> None:
    """In one process, which may have copied five bytes before the clock starts."""
    answer = probed(s3, known, client="java-transfer-manager", pattern="parallel", warm=warm)
    assert (answer["status"], answer["digest_ok"], answer["files"]) == ("ok", True, 4)
    assert answer["cpu_seconds"] > 0


def test_a_program_that_fails_ends_the_transfer(
    s3: S3Client, known: KnownObject, programs: Path
) -> None:
    """With its own words."""
    (programs / "0002.bin").unlink()
    (programs / "cp").write_text("#!/bin/sh\necho no such thing >&2\nexit 3\n", "utf-8")
    (programs / "cp").chmod(0o755)
    with pytest.raises(BucketsumError, match=r"s5cmd ended with 3 for .*: no such thing"):
        probed(s3, known, client="s5cmd")


def test_a_list_of_ones_own_is_read(s3: S3Client, known: KnownObject) -> None:
    """However its JSON is written."""
    body = s3.get_object(Bucket=BUCKET, Key=KEY)["Body"].read()
    files = [json.loads(line) for line in body.splitlines()]
    key = f"{KEY.removesuffix('.jsonl')}.txt"  # beside the same files
    lines = "\n".join(json.dumps(file, sort_keys=True, separators=(",", ":")) for file in files)
    s3.put_object(Bucket=BUCKET, Key=key, Body=lines)
    own: KnownObject = {**known, "key": key, "sha1": digest_of([lines.encode()]).sha1}
    answer = probed(s3, own, pattern="limited:2")
    assert (answer["status"], answer["digest_ok"], answer["sha1"]) == ("ok", True, own["sha1"])


def test_a_wrong_list_of_ones_own_is_refused(s3: S3Client, known: KnownObject) -> None:
    """Before a file is read."""
    body = json.dumps({"name": "a", "size_bytes": 9, "sha1": "x"}).encode()
    s3.put_object(Bucket=BUCKET, Key="mine.jsonl", Body=body)
    own: KnownObject = {**known, "key": "mine.jsonl", "sha1": digest_of([body]).sha1}
    with pytest.raises(BadSweep, match=r"mine\.jsonl names 9 bytes of files, not 5"):
        probed(s3, own)


_STOPPED: Final = """
import json, sys, tempfile, time, types, boto3
from bucketsum.s3.source import CLIENT_CONFIG
from bucketsum_lab.measure.prober import Prober
from bucketsum_lab.workloads.transfer import schedule
starts_at_once = iter([True])
def sleep(_seconds):
    if not next(starts_at_once, False):
        print("between two files", flush=True)
        time.sleep(100)
schedule.time = types.SimpleNamespace(perf_counter=time.perf_counter, sleep=sleep)
tempfile.tempdir = sys.argv[2]
Prober(boto3.client("s3", config=CLIENT_CONFIG)).probe(json.loads(sys.argv[1]), 512)
"""
"""A transfer that waits after its first file, until it is stopped."""


def test_a_transfer_that_is_stopped_leaves_nothing(
    s3: S3Client, known: KnownObject, tmp_path: Path, server: str
) -> None:
    """Ctrl-C between two files ends it, and its folder is removed."""
    assert s3.meta.endpoint_url == server
    with subprocess.Popen(
        [sys.executable, "-c", _STOPPED, json.dumps(event_of(known, pattern="staccato:1")),
         str(tmp_path)],
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
    ) as process:  # fmt: skip
        assert process.stdout
        assert process.stdout.readline() == b"between two files\n"
        while not list(tmp_path.glob("*/0")):  # a thread of its own fetches the first file
            assert process.poll() is None
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        assert process.wait() == -signal.SIGINT
