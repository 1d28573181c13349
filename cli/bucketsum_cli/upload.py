"""Local files → objects in the bucket → their rows in the ledger."""

from __future__ import annotations

import time
from collections import deque
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from boto3.s3.transfer import S3Transfer, TransferConfig

from bucketsum.digests_table import NULL_VERSION, Row, RowKey
from bucketsum_cli.files import LocalFile, Skipped
from bucketsum_cli.stack import CONNECTIONS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from mypy_boto3_s3 import S3Client

    from bucketsum.digests_table import DigestsTable
    from bucketsum_cli.stack import Stack

MULTIPART_FROM_BYTES: Final = 64 * 1024 * 1024
"""From this size on a file is sent in parts: a part that fails is sent again, not the file."""

_PART_BYTES: Final = 16 * 1024 * 1024
_FILES_AT_A_TIME: Final = 8
_TRANSFER: Final = TransferConfig(
    multipart_threshold=MULTIPART_FROM_BYTES,
    multipart_chunksize=_PART_BYTES,
    max_concurrency=CONNECTIONS // 2,
)
_SENDING: Final = ("PutObject", "CompleteMultipartUpload")

_FIRST_PAUSE_SECONDS: Final = 0.1
_LONGEST_PAUSE_SECONDS: Final = 2.0
_ASKED_AT_A_TIME: Final = 1000


@dataclass(frozen=True, slots=True)
class Upload:
    """A file that is in the bucket now.

    Attributes:
        file: What was sent.
        place: Where its row will be: exactly the version that this upload made.
        etag: Its entity tag, without quotes.
    """

    file: LocalFile
    place: RowKey
    etag: str

    def is_told_by(self, rows: Mapping[RowKey, Row]) -> bool:
        """Whether *rows* hold one of these bytes.

        In a bucket without versions a place is taken over by the next object with the same key.
        """
        row = rows.get(self.place)
        return row is not None and row.etag in (None, self.etag)


@dataclass(frozen=True, slots=True)
class Sent:
    """What became of some files, both lists in the order that the files were given in."""

    uploads: list[Upload]
    skipped: list[Skipped]


def put_files(
    stack: Stack,
    files: Sequence[LocalFile],
    on_bytes: Callable[[int], None] = lambda _size: None,
    on_file: Callable[[], None] = lambda: None,
) -> Sent:
    """Send *files* to the bucket, several at a time, large ones in parts.

    Args:
        stack: Whose bucket.
        files: What to send; no two with the same key.
        on_bytes: Called from several threads with the bytes that were just sent; negative where
            some are sent again.
        on_file: Called when a file is done.

    Raises:
        BotoCoreError: AWS cannot be reached; what was not sent by then is not sent.
        ClientError: AWS refused; the same.
        Boto3Error: AWS refused in a transfer; the same.
    """
    s3 = stack.client("s3")
    answers = _answers_by_key(s3)
    reasons: dict[str, str] = {}
    with S3Transfer(s3, _TRANSFER) as transfer:  # type: ignore[arg-type] # stub wants another Config
        pool = ThreadPoolExecutor(_FILES_AT_A_TIME)
        try:
            sending = {
                pool.submit(
                    transfer.upload_file, str(file.path), stack.bucket, file.key, on_bytes
                ): file
                for file in files
            }
            for one in as_completed(sending):
                try:
                    one.result()
                except OSError as error:
                    reasons[sending[one].key] = error.strerror or str(error)
                on_file()
        finally:  # on an error or Ctrl-C: start no more, and let S3Transfer abort the rest
            pool.shutdown(wait=False, cancel_futures=True)
    return Sent(
        uploads=[
            _upload(stack.bucket, file, answers[file.key])
            for file in files
            if file.key not in reasons
        ],
        skipped=[Skipped(file.path, reasons[file.key]) for file in files if file.key in reasons],
    )


def _answers_by_key(s3: S3Client) -> Mapping[str, Mapping[str, Any]]:
    """What S3 will have answered to each key's upload on this client.

    boto3's transfers do not hand out S3's answer, and asking afterwards with HEAD could name the
    version of somebody else's later upload. botocore's events carry it.
    """
    answers: dict[str, Mapping[str, Any]] = {}

    def note_key(params: Mapping[str, Any], context: dict[str, Any], **_: object) -> None:
        context["bucketsum_key"] = params["Key"]

    def note_answer(parsed: Mapping[str, Any], context: Mapping[str, Any], **_: object) -> None:
        answers[context["bucketsum_key"]] = parsed

    for operation in _SENDING:
        s3.meta.events.register(f"provide-client-params.s3.{operation}", note_key)
        s3.meta.events.register(f"after-call.s3.{operation}", note_answer)
    return answers


def _upload(bucket: str, file: LocalFile, answer: Mapping[str, Any]) -> Upload:
    place = RowKey(bucket, file.key, answer.get("VersionId", NULL_VERSION))
    return Upload(file, place, answer["ETag"].strip('"'))


def wait_for_rows(
    ledger: DigestsTable,
    uploads: Iterable[Upload],
    timeout_seconds: float,
    on_row: Callable[[], None] = lambda: None,
    clock: Callable[[], float] = time.monotonic,
    pause: Callable[[float], None] = time.sleep,
) -> dict[RowKey, Row]:
    """Wait until the row of each of *uploads* is there, or *timeout_seconds* are over.

    Calls *on_row* for each row that has come. Those that did not come are left out.
    """
    deadline = clock() + timeout_seconds
    pause_seconds = _FIRST_PAUSE_SECONDS
    waiting = deque(uploads)
    rows: dict[RowKey, Row] = {}
    while waiting:
        asked = [waiting.popleft() for _ in range(min(len(waiting), _ASKED_AT_A_TIME))]
        found = ledger.rows_at(one.place for one in asked)
        come = {one.place: found[one.place] for one in asked if one.is_told_by(found)}
        for _ in come:
            on_row()
        rows |= come
        waiting.extend(one for one in asked if one.place not in come)
        left = deadline - clock()
        if left <= 0:
            break
        if come:  # they are coming: ask soon
            pause_seconds = _FIRST_PAUSE_SECONDS
        if len(come) < len(asked):
            pause(min(pause_seconds, left))
            pause_seconds = min(pause_seconds * 2, _LONGEST_PAUSE_SECONDS)
    return rows
