"""Hash an object of 2 GB in at least 40 slices on the local emulator, without and with faults.

Run it against a stack that `bucketsum local up` has started and that nobody else uses::

    python -m tests.e2e.long_objects [--mb 2000] [--slices 40]

It takes some minutes, and changes time-outs and memory of the functions.
"""

import argparse
import hashlib
import os
import random
import signal
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from bucketsum.events.version import NULL
from bucketsum.long_objects.message import body_of
from bucketsum.long_objects.progress import Progress
from bucketsum.table.rows import Row, RowKey, Status
from bucketsum_cli.aws.stack import Stack
from bucketsum_cli.aws.stack_lookup import find_local_stack

PART_BYTES: Final = 50_000_000
HASHER_SECONDS: Final = 10
"""Time-out of the hasher: with 128 MB it hands over objects above 143 MB."""
SLICER_SECONDS: Final = 15
LIMIT_SECONDS: Final = 1500


@dataclass(slots=True)
class Watch:
    """Follows one key, and meddles.

    Attributes:
        doubles: Send every message a second time.
        kills: Kill the worker in the middle of every fifth slice.
        hops: Slices that were seen.
        killed: Workers that were killed.
    """

    stack: Stack
    doubles: bool = False
    kills: bool = False
    hops: set[tuple[str, int]] = field(default_factory=set)
    killed: set[tuple[str, int]] = field(default_factory=set)

    def look(self, progress: Progress) -> None:
        """Note a slice, and meddle with it."""
        slice_id = progress.etag, progress.hop
        if slice_id not in self.hops and self.doubles:
            self.stack.client("sqs").send_message(
                QueueUrl=self.stack.outputs["LongObjectsQueueUrl"], MessageBody=body_of(progress)
            )
        self.hops.add(slice_id)
        due = self.kills and progress.hop % 5 == 4 and slice_id not in self.killed
        if due and progress.leased_until > time.time():
            time.sleep(0.3)
            if kill_workers(self.stack.outputs["SlicerFunctionName"]):
                self.killed.add(slice_id)


def kill_workers(function: str) -> int:
    """Kill the emulator's processes of *function*; returns how many there were."""
    name = f"AWS_LAMBDA_FUNCTION_NAME={function}".encode()
    count = 0
    for environ in Path("/proc").glob("[0-9]*/environ"):
        with suppress(OSError):
            if name in environ.read_bytes().split(b"\0"):
                os.kill(int(environ.parent.name), signal.SIGKILL)
                count += 1
    return count


def prepare(stack: Stack, slice_bytes: int) -> None:
    """Give both functions 128 MB, and times that suit a test."""
    client = stack.client("lambda")
    for function, seconds in (
        (stack.function, HASHER_SECONDS),
        (stack.outputs["SlicerFunctionName"], SLICER_SECONDS),
    ):
        configuration = client.get_function_configuration(FunctionName=function)
        variables = {**configuration["Environment"]["Variables"], "SLICE_BYTES": str(slice_bytes)}
        client.update_function_configuration(
            FunctionName=function,
            MemorySize=128,
            Timeout=seconds,
            Environment={"Variables": variables},
        )
    stack.client("sqs").set_queue_attributes(
        QueueUrl=stack.outputs["LongObjectsQueueUrl"],
        Attributes={"VisibilityTimeout": str(SLICER_SECONDS + 1)},
    )
    stack.client("s3").put_bucket_versioning(
        Bucket=stack.bucket, VersioningConfiguration={"Status": "Suspended"}
    )


def upload(stack: Stack, key: str, size_bytes: int, seed: int) -> str:
    """Put an object in parts; returns its SHA-1."""
    s3: Any = stack.client("s3")
    target = {"Bucket": stack.bucket, "Key": key}
    upload_id = s3.create_multipart_upload(**target)["UploadId"]
    sha1 = hashlib.sha1(usedforsecurity=False)
    parts = []
    for number in range(1, -(-size_bytes // PART_BYTES) + 1):
        length = min(PART_BYTES, size_bytes - (number - 1) * PART_BYTES)
        body = random.Random(seed + number).randbytes(length)  # noqa: S311 - content
        sha1.update(body)
        answer = s3.upload_part(**target, UploadId=upload_id, PartNumber=number, Body=body)
        parts.append({"PartNumber": number, "ETag": answer["ETag"]})
    s3.complete_multipart_upload(**target, UploadId=upload_id, MultipartUpload={"Parts": parts})
    return sha1.hexdigest()


def copy(stack: Stack, source: str, key: str) -> None:
    """Copy an object in the bucket, which is faster than another upload."""
    place: Any = {"Bucket": stack.bucket, "Key": source}
    stack.client("s3").copy_object(Bucket=stack.bucket, Key=key, CopySource=place)


def hashed(
    stack: Stack, key: str, sha1: str, watch: Watch, half_way: Callable[[], str] | None = None
) -> Row:
    """Wait until *key* is hashed; *half_way* puts another object, and returns its SHA-1."""
    started = time.monotonic()
    while time.monotonic() - started < LIMIT_SECONDS:
        for progress in stack.progress_table().in_progress():
            assert isinstance(progress, Progress)
            watch.look(progress)
            if half_way and progress.offset > progress.size_bytes // 2:
                sha1, half_way = half_way(), None
        row = stack.digests_table().row_at(RowKey(stack.bucket, key, NULL.entry))
        if row and row.status is Status.HASHED and not half_way:
            in_progress = list(stack.progress_table().in_progress())
            if not in_progress:
                check(row.sha1 == sha1, f"{key}: recorded {row.sha1}, expected {sha1}")
                return row
        time.sleep(0.02)
    raise SystemExit(f"{key} is not hashed after {LIMIT_SECONDS} s")


def check(holds: bool, text: str) -> None:  # noqa: FBT001 - an assertion that stays
    """End with *text* if it does not hold."""
    if not holds:
        raise SystemExit(text)


def report(name: str, watch: Watch, row: Row, seconds: float) -> None:
    """Show a line of results."""
    slices = len({hop for etag, hop in watch.hops if etag == row.etag})
    print(  # noqa: T201 - a script's result
        f"{name}: {row.size_bytes:,} bytes in {slices} slices of the recorded object, "
        f"{len(watch.hops)} in all, {len(watch.killed)} workers killed, {seconds:.0f} s, "
        f"SHA-1 {row.sha1} as expected"
    )
    sys.stdout.flush()


def main() -> None:
    """Prove both ways."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--mb", type=int, default=2000, help="object size in MB; by default 2000")
    parser.add_argument("--slices", type=int, default=40,
                        help="minimum number of slices; by default 40")  # fmt: skip
    options = parser.parse_args()
    size_bytes = options.mb * 1_000_000
    stack = find_local_stack()
    prepare(stack, size_bytes // options.slices)

    sha1 = upload(stack, "long-plain", size_bytes, 1)
    started, watch = time.monotonic(), Watch(stack)
    row = hashed(stack, "long-plain", sha1, watch)
    report("plain", watch, row, time.monotonic() - started)
    check(len(watch.hops) >= options.slices, f"only {len(watch.hops)} slices")

    copy(stack, "long-plain", "long-chaos")
    started, watch = time.monotonic(), Watch(stack, doubles=True, kills=True)
    row = hashed(stack, "long-chaos", sha1, watch)
    report("killed and doubled", watch, row, time.monotonic() - started)

    copy(stack, "long-plain", "long-new")
    started, watch = time.monotonic(), Watch(stack, doubles=True, kills=True)
    row = hashed(
        stack, "long-new", sha1, watch,
        lambda: upload(stack, "long-new", size_bytes // 8 + 77, 300),
    )  # fmt: skip
    report("overwritten half-way", watch, row, time.monotonic() - started)


if __name__ == "__main__":
    main()
