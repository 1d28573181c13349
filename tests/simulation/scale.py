"""The product scaled down: limits of a few bytes, the threads and the time of a schedule."""

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from datetime import datetime, tzinfo
from functools import partial
from types import SimpleNamespace
from typing import Any, Final

from botocore.httpsession import URLLib3Session
from tests.simulation.functions import CHUNK_BYTES, SILENT
from tests.simulation.lambda_model import Threads
from tests.simulation.s3_model import EPOCH
from tests.simulation.schedule import Schedule

from bucketsum import clock
from bucketsum.backfill import enqueue, listing
from bucketsum.hashing import batch, object_hasher, small_objects
from bucketsum.invocation import deadline
from bucketsum.long_objects import slice_reader
from bucketsum.long_objects.portable_digest import BLOCK_BYTES
from bucketsum.queue import dead_letters
from bucketsum.table import digests_table
from bucketsum_cli.commands import redrive
from bucketsum_cli.dead_letters import queue as dead_letter_queue

_LOOK_UP_BYTES: Final = 4 * CHUNK_BYTES
_LARGE_BYTES: Final = 6 * CHUNK_BYTES
_LONG_BYTES: Final = 150
_SMALL_SIZES: Final = (0, 1, CHUNK_BYTES, 3 * CHUNK_BYTES + 1)
SIZES: Final = (*_SMALL_SIZES, *_SMALL_SIZES, _LOOK_UP_BYTES + 1, _LARGE_BYTES + 1)
LONG_SIZES: Final = (_LONG_BYTES + 1, 384, 500)


@contextmanager
def scaled_down(schedule: Schedule) -> Iterator[None]:
    """The product with the threads and the time of *schedule*, and limits of a few bytes."""
    model_time = SimpleNamespace(
        sleep=schedule.pause,
        time=lambda: EPOCH + schedule.now,
        monotonic=lambda: schedule.now,
        perf_counter=lambda: schedule.now,
    )
    model_clock = SimpleNamespace(now=partial(_now, schedule))
    changes = (
        *_LIMITS,
        (batch, "ThreadPoolExecutor", partial(Threads, schedule)),
        (digests_table, "time", model_time),
        (slice_reader, "time", model_time),
        (clock, "datetime", model_clock),
        (enqueue, "time", model_time),
    )
    originals = [(target, name, getattr(target, name)) for target, name, _ in changes]
    try:
        for change in changes:
            setattr(*change)
        yield
    finally:
        for original in originals:
            setattr(*original)


def _refuse(_session: object, request: object) -> None:
    """Refuse what would leave the models: a client that they do not replace."""
    raise AssertionError(f"a request for the network: {request!r}")


def _no_bar(*_: object, **__: object) -> AbstractContextManager[Any]:
    return nullcontext(SILENT)


def _now(schedule: Schedule, zone: tzinfo) -> datetime:
    return datetime.fromtimestamp(EPOCH + schedule.now, zone)


_LIMITS: Final[tuple[tuple[Any, str, object], ...]] = (
    (batch, "SPLIT_FROM_BYTES", _LOOK_UP_BYTES),
    (batch, "LARGE_BYTES", _LARGE_BYTES),
    (object_hasher, "LOOK_UP_FROM_BYTES", _LOOK_UP_BYTES),
    (small_objects, "LOOK_UP_FROM_BYTES", _LOOK_UP_BYTES),
    (deadline, "_SLOW_MB_PER_S", _LONG_BYTES / 897 / 1e6),
    (slice_reader, "MINIMUM_SLICE_BYTES", BLOCK_BYTES),
    (dead_letters, "THROTTLED_SECONDS", dead_letters.FIRST_DELAY_SECONDS),
    (enqueue, "QUEUED_MESSAGES_MIN", 2),
    (listing, "PAGE_OBJECTS", 2),
    (dead_letter_queue, "progress", _no_bar),
    (redrive, "print_json", SILENT.print),
    (redrive, "note", SILENT.print),
    (URLLib3Session, "send", _refuse),
)
