"""The readers themselves, and the process that runs them: what they say they read, they read."""

import hashlib
import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

import boto3
import pytest
from bench.readers import implementations as readers
from bench.readers.implementations import ReadTarget
from bench.readers.registry import ENTRIES
from bench.sandbox.objects import random_chunks
from moto import mock_aws

ROOT: Final = Path(__file__).parents[3]
CONTENT: Final = b"".join(random_chunks(20_000_001))  # more than two parts of s3transfer
SHA1: Final = hashlib.sha1(CONTENT).hexdigest()
FIELDS: Final[dict[str, Any]] = {
    "endpoint": "", "certificates": "", "bucket": "bench", "key": "one",
    "size_bytes": len(CONTENT), "memory_mb": 512, "programs": {"shell": "sh"},
}  # fmt: skip


@pytest.fixture
def target() -> Iterator[ReadTarget]:
    """An object in an S3 in this process."""
    with mock_aws():
        s3 = boto3.client("s3")
        s3.create_bucket(Bucket="bench")
        s3.put_object(Bucket="bench", Key="one", Body=CONTENT)
        yield ReadTarget(**FIELDS)


@pytest.mark.parametrize(
    "prepare",
    [
        pytest.param(lambda target: readers.baseline(target, 20_000_000), id="baseline"),
        pytest.param(lambda target: readers.baseline(target, 999), id="baseline, odd chunks"),
        pytest.param(lambda target: readers.iter_chunks(target, 1 << 20), id="iter_chunks"),
        pytest.param(readers.download_fileobj, id="download_fileobj"),
        pytest.param(lambda target: readers.single_stream(target, 1 << 20), id="single stream"),
    ],
)
def test_a_reader_reads_all_of_the_object_in_order(
    target: ReadTarget, prepare: Callable[[ReadTarget], Callable[[], tuple[int, str]]]
) -> None:
    """Also a second time with what the first has left open, as warm runs do."""
    read = prepare(target)
    assert read() == (len(CONTENT), SHA1)
    assert read() == (len(CONTENT), SHA1)


def test_a_program_that_fails_is_no_measurement(tmp_path: Path) -> None:
    """Even if it has written all of the object before."""
    (tmp_path / "one").write_bytes(CONTENT)
    read = readers.piped(ReadTarget(**FIELDS), ["{shell}", "-c", f"cat {tmp_path}/{{key}}; exit 3"])
    with pytest.raises(ChildProcessError, match="3"):
        read()


def run_harness(file: str, after: str) -> list[dict[str, object]]:
    """The answers of the harness to a job that reads *file*, and then to *after*."""
    options = {"argv": ["cat", file]}
    job = {"reader": "piped", "options": options, "target": FIELDS, "warm": True}
    done = subprocess.run(
        [sys.executable, "-m", "bench.readers.implementations"],
        input=f"{json.dumps(job)}\n{after}",
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_the_harness_measures_one_reading(tmp_path: Path) -> None:
    """It says when it is ready, waits, and tells size, digest, seconds and memory."""
    (tmp_path / "one").write_bytes(CONTENT)
    ready, measured = run_harness(f"{tmp_path}/{{key}}", "go\n")
    assert ready == {"ready": True}
    assert (measured["size_bytes"], measured["sha1"]) == (len(CONTENT), SHA1)
    assert all(float(str(measured[name])) > 0 for name in ("seconds", "cpu_seconds", "peak_bytes"))


def test_the_harness_ends_when_nobody_waits_for_it(tmp_path: Path) -> None:
    """A runner that was killed leaves no reader behind."""
    (tmp_path / "one").write_bytes(CONTENT)
    assert run_harness(f"{tmp_path}/{{key}}", "") == [{"ready": True}]


def test_every_entry_names_a_reader() -> None:
    """The harness finds each by the name of its function."""
    for entry in ENTRIES:
        assert callable(getattr(readers, entry.reader)), entry.name
