"""Upload local files and wait for their rows."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass, replace
from threading import Event
from typing import TYPE_CHECKING, Any, Final

from botocore.exceptions import ConnectionError as NoConnection
from botocore.parsers import ResponseParserError

from bucketsum.events.version import Version
from bucketsum.table.rows import Row, RowKey
from bucketsum_cli.aws.connection import CONNECTIONS
from bucketsum_cli.aws.errors import AWS_ERRORS, explained
from bucketsum_cli.objects.files import LocalFile, Skipped
from bucketsum_cli.terminal.errors import CannotDoError

if TYPE_CHECKING:
    from boto3.s3.transfer import S3Transfer
    from mypy_boto3_s3 import S3Client

    from bucketsum.table.digests_table import DigestsTable
    from bucketsum_cli.aws.stack import Stack

MULTIPART_FROM_BYTES: Final = 64 * 1024 * 1024
"""Files from this size on are sent in parts; a failed part is sent again, not the file."""

_PART_BYTES: Final = 16 * 1024 * 1024
CHECKSUM: Final = {"ChecksumAlgorithm": "CRC32", "ChecksumType": "FULL_OBJECT"}
"""Of the whole file, also if it is sent in parts; boto3 alone has S3 keep one for the parts."""
_FILES_AT_A_TIME: Final = 8
_SENDING: Final = ("PutObject", "CompleteMultipartUpload", "CopyObject")

_FIRST_PAUSE_SECONDS: Final = 0.1
_LONGEST_PAUSE_SECONDS: Final = 2.0
_KEYS_PER_REQUEST: Final = 1000


@dataclass(frozen=True, slots=True)
class Upload:
    """A file that was uploaded.

    Attributes:
        row_key: Key of its row: the very version that this upload created.
        etag: Its entity tag, without quotes.
        row: Its row; None if it was not there in time, or not waited for.
    """

    file: LocalFile
    row_key: RowKey
    etag: str
    row: Row | None = None

    def is_recorded_in(self, rows: Mapping[RowKey, Row]) -> bool:
        """Whether *rows* has a row of this very content.

        In a bucket without versions, the next object with the same key takes over the row.
        """
        row = rows.get(self.row_key)
        if row is None or (row.deletion and row.version.is_null):
            return False
        return row.etag in (None, self.etag)


def put_files(
    stack: Stack,
    files: Sequence[LocalFile],
    on_bytes: Callable[[int], None] = lambda _size: None,
    on_file: Callable[[], None] = lambda: None,
) -> tuple[list[Upload], list[Skipped]]:
    """Send *files* to the bucket, several at a time, large ones in parts.

    Returns the uploads, with the sizes that were sent, and the skipped files, both in the order of
    *files*. A refusal ends only its own file; if AWS cannot be reached, the rest is not sent.

    Args:
        stack: The stack with the bucket.
        files: Files with different keys.
        on_bytes: Called from several threads with the number of bytes just sent; negative if
            bytes are sent again.
        on_file: Called when a file is done.

    Raises:
        BotoCoreError: No file was sent, all for the same reason.
        ClientError: The same.
    """
    from boto3.s3.transfer import S3Transfer, TransferConfig  # noqa: PLC0415 - boto3 takes a third of a second

    config = TransferConfig(
        preferred_transfer_client="classic",  # the other gives no answers: `answers_by_key`
        multipart_threshold=MULTIPART_FROM_BYTES,
        multipart_chunksize=_PART_BYTES,
        max_concurrency=CONNECTIONS // 2,
    )
    s3 = stack.client("s3")
    answers = answers_by_key(s3)
    with S3Transfer(s3, config) as transfer:  # type: ignore[arg-type] # stub wants another Config
        sender = _Sender(transfer, stack.bucket, on_bytes)
        pool = ThreadPoolExecutor(_FILES_AT_A_TIME)
        try:
            sending = {pool.submit(sender.send, file): file.key for file in files}
            for _ in as_completed(sending):
                on_file()
            sent = {sending[future]: future.result() for future in sending}
        finally:  # on an error or Ctrl-C: start no more, and let S3Transfer abort the rest
            pool.shutdown(wait=False, cancel_futures=True)
    failures = {key: result for key, result in sent.items() if isinstance(result, Exception)}
    reasons = {key: _reason_of(failure) for key, failure in failures.items()}
    if len(failures) == len(files) and len(set(reasons.values())) == 1:
        _raise_if_refused(next(iter(failures.values())))
    return (
        [
            _upload(stack.bucket, replace(file, size_bytes=size), answers[file.key])
            for file in files
            if isinstance(size := sent[file.key], int)
        ],
        [Skipped(file.path, reasons[file.key]) for file in files if file.key in reasons],
    )


class _Sender:
    """Sends files, from several threads, until AWS cannot be reached."""

    def __init__(self, transfer: S3Transfer, bucket: str, on_bytes: Callable[[int], None]) -> None:
        self._transfer = transfer
        self._bucket = bucket
        self._on_bytes = on_bytes
        self._unreachable = Event()

    def send(self, file: LocalFile) -> int | Exception:
        """Send *file*; returns the size that was sent, or why it was not."""
        from boto3.exceptions import Boto3Error  # noqa: PLC0415 - boto3 takes a third of a second

        if self._unreachable.is_set():
            return CannotDoError("not sent, because AWS cannot be reached")
        sizes: list[int] = []

        def count(size_bytes: int) -> None:
            sizes.append(size_bytes)
            self._on_bytes(size_bytes)

        try:
            path = str(file.path)
            self._transfer.upload_file(path, self._bucket, file.key, count, CHECKSUM)
        except (OSError, ResponseParserError, *AWS_ERRORS) as error:
            if isinstance(error, NoConnection):
                self._unreachable.set()
            return error
        except Boto3Error as error:  # its context is the refusal that it wraps
            return error.__context__ if isinstance(error.__context__, Exception) else error
        return sum(sizes)


def _raise_if_refused(failure: Exception) -> None:
    if isinstance(failure, AWS_ERRORS):
        raise failure


def _reason_of(failure: Exception) -> str:
    if isinstance(failure, AWS_ERRORS):
        return explained(failure).message
    return getattr(failure, "strerror", None) or str(failure)


def answers_by_key(s3: S3Client) -> Mapping[str, Mapping[str, Any]]:
    """Return a mapping that this client's uploads and copies fill: key → S3's answer.

    boto3's transfers do not return S3's answer, and a later HEAD could give the version of another
    upload. botocore's events have it.
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
    row_key = RowKey(bucket, file.key, Version(answer.get("VersionId")).entry)
    return Upload(file, row_key, answer["ETag"].strip('"'))


def wait_for_rows(
    table: DigestsTable,
    uploads: Iterable[Upload],
    timeout_seconds: float,
    clock: Callable[[], float] = time.monotonic,
    pause: Callable[[float], None] = time.sleep,
) -> Iterator[tuple[RowKey, Row]]:
    """Yield the row of each of *uploads* when it is there, until *timeout_seconds* are over."""
    deadline = clock() + timeout_seconds
    pause_seconds = _FIRST_PAUSE_SECONDS
    waiting = deque(uploads)
    while waiting:
        batch = [waiting.popleft() for _ in range(min(len(waiting), _KEYS_PER_REQUEST))]
        present = table.rows_at(upload.row_key for upload in batch)
        new = {
            upload.row_key: present[upload.row_key]
            for upload in batch
            if upload.is_recorded_in(present)
        }
        yield from new.items()
        waiting.extend(upload for upload in batch if upload.row_key not in new)
        left = deadline - clock()
        if left <= 0:
            return
        if new:  # more will follow soon
            pause_seconds = _FIRST_PAUSE_SECONDS
        if len(new) < len(batch):
            pause(min(pause_seconds, left))
            pause_seconds = min(pause_seconds * 2, _LONGEST_PAUSE_SECONDS)
