"""The product's functions, wired to the models in place of AWS's clients."""

import importlib.util
import inspect
import os
from dataclasses import dataclass, replace
from functools import cache
from types import ModuleType, SimpleNamespace
from typing import Any, Final
from unittest.mock import patch

from tests.simulation.connections_model import ModelConnections, Requests, Signer
from tests.simulation.dynamodb_model import BACKFILLS, DIGESTS, DynamoDb
from tests.simulation.lambda_model import Handler
from tests.simulation.s3_model import EPOCH, S3
from tests.simulation.schedule import Schedule
from tests.simulation.sqs_model import (
    ARRIVALS,
    BACKFILL,
    DEAD_LETTERS,
    LONG_OBJECTS,
    MAX_RECEIVES,
    Sqs,
)
from tests.support.settings import SETTINGS

from bucketsum.backfill.enqueue import BackfillQueue, Enqueuer
from bucketsum.backfill.listed_batch import ListedBatchHasher
from bucketsum.backfill.table import BackfillsTable
from bucketsum.hashing.batch import BatchHasher
from bucketsum.hashing.notified import NotifiedHasher
from bucketsum.hashing.object_hasher import ObjectHasher
from bucketsum.hashing.report import Report
from bucketsum.hashing.small_object_connections import Network
from bucketsum.hashing.small_objects import SmallObjectHasher
from bucketsum.long_objects.hand_over import HandOver
from bucketsum.long_objects.message import LongObjectsQueue
from bucketsum.long_objects.progress_table import ProgressTable
from bucketsum.long_objects.slice_reader import SliceReader
from bucketsum.long_objects.slicer import Slicer
from bucketsum.queue.dead_letters import DeadLetters
from bucketsum.s3.botocore_reader import BotocoreReader
from bucketsum.s3.stored_checksums import ComparingSource, StoredChecksums
from bucketsum.table.digests_table import DigestsTable

CHUNK_BYTES: Final = 8
"""Contents have some chunks of this size, so that much can happen while one is read."""

_SLICER_CHUNK_BYTES: Final = 96  # not a multiple of a digest's block

_SETTINGS: Final = replace(
    SETTINGS,
    arrivals_queue_url=ARRIVALS,
    dead_letter_queue_url=DEAD_LETTERS,
    long_objects_queue_url=LONG_OBJECTS,
    max_receives=MAX_RECEIVES,
)
_ENVIRONMENT: Final = {
    "AWS_ACCESS_KEY_ID": "testing",
    "AWS_SECRET_ACCESS_KEY": "testing",
    "AWS_DEFAULT_REGION": "us-east-1",
    "AWS_LAMBDA_FUNCTION_MEMORY_SIZE": "512",
    "DIGESTS_TABLE": DIGESTS,
    "BACKFILLS_TABLE": BACKFILLS,
    "BACKFILL_QUEUE_URL": BACKFILL,
    "BACKFILL_CONCURRENCY": "2",
    "ARRIVALS_QUEUE_URL": ARRIVALS,
    "DEAD_LETTER_QUEUE_URL": DEAD_LETTERS,
    "MAX_RECEIVES": str(MAX_RECEIVES),
    "CHUNK_BYTES": "65536",
    "STREAMS": "auto",
    "EXTRA_ALGORITHMS": "",
    "DELETED_ROW_DAYS": "0",
    "POWERTOOLS_SERVICE_NAME": "simulated",
    "POWERTOOLS_METRICS_NAMESPACE": "bucketsum",
    "POWERTOOLS_TRACE_DISABLED": "1",
}


def _nothing(*_: object, **__: object) -> None:
    """Do nothing."""


class _Silent:
    """A logger and a recorder of metrics that do nothing."""

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - any method
        setattr(self, name, _nothing)
        return _nothing


SILENT: Final[Any] = _Silent()
"""In place of what is for people."""


@cache
def module_of(function: str) -> ModuleType:
    """The function's own module, loaded once, without its log and its metrics."""
    with patch.dict(os.environ, _ENVIRONMENT):
        spec = importlib.util.find_spec(f"bucketsum.functions.{function}")
        assert spec
        assert spec.loader
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
    vars(module).update(logger=SILENT, metrics=SILENT)
    return module


@cache
def _handler_of(module: ModuleType) -> Handler:
    handler: Handler = inspect.unwrap(module.lambda_handler)
    return handler


@dataclass(frozen=True, slots=True)
class Functions:
    """Handlers of the functions, for one schedule."""

    schedule: Schedule
    s3: S3
    sqs: Sqs
    dynamodb: DynamoDb

    def hasher(self) -> Handler:
        """The hasher, at times without libcurl."""
        module, schedule = module_of("hasher"), self.schedule
        settings = replace(_SETTINGS, threads=schedule.random.choice((1, 4)))
        dynamodb: Any = self.dynamodb
        table = DigestsTable(dynamodb, DIGESTS, schedule.random.choice((0, 30)))
        reader, checksums = self._source(CHUNK_BYTES), self._checksums()
        source = ComparingSource(reader, checksums) if checksums else reader
        sqs: Any = self.sqs
        queue = LongObjectsQueue(sqs, LONG_OBJECTS)
        hasher = ObjectHasher(
            source=source,
            table=table,
            settings=settings,
            clock=lambda: schedule.now,
            hand_over=HandOver(ProgressTable(dynamodb, DIGESTS), queue, self._time).begin,
        )
        connections: Any = ModelConnections(schedule, self.s3, self.dynamodb)
        requests: Any = Requests()
        signer: Any = Signer()
        network = Network(connections, requests, signer, table)
        small = SmallObjectHasher(network, settings, lambda: schedule.now, checksums)
        small_or_none = small if schedule.happens(0.7) else None
        backfills = BackfillsTable(dynamodb, BACKFILLS)
        tasks = NotifiedHasher(hasher, table, small_or_none)
        listed = ListedBatchHasher(tasks, table, backfills, settings)
        vars(module).update(
            _BATCH=BatchHasher(tasks, settings),
            _REPORT=self._report(module),
            _listed_batch=lambda: listed,
        )
        return _handler_of(module)

    def slicer(self) -> Handler:
        """The slicer; slices have some blocks at most."""
        module = module_of("slicer")
        dynamodb: Any = self.dynamodb
        sqs: Any = self.sqs
        vars(module).update(
            _SLICER=Slicer(
                reader=SliceReader(
                    self._source(_SLICER_CHUNK_BYTES),
                    slice_bytes=self.schedule.random.choice((128, 300)),
                    checksums=self._checksums(),
                ),
                progress_table=ProgressTable(dynamodb, DIGESTS),
                digests_table=DigestsTable(dynamodb, DIGESTS),
                queue=LongObjectsQueue(sqs, LONG_OBJECTS),
                settings=_SETTINGS,
                clock=self._time,
            ),
            _BACKFILLS=BackfillsTable(dynamodb, BACKFILLS),
            _REPORT=self._report(module),
        )
        return _handler_of(module)

    def enqueuer(self) -> Handler:
        """The enqueuer of backfills."""
        module = module_of("enqueuer")
        dynamodb: Any = self.dynamodb
        sqs: Any = self.sqs
        backfills = BackfillsTable(dynamodb, BACKFILLS)
        vars(module).update(
            _S3=self.s3,
            _BACKFILLS=backfills,
            _ENQUEUER=Enqueuer(backfills, BackfillQueue(sqs, BACKFILL, 0)),
            _REPORTING=SimpleNamespace(evidence=lambda _context: None),  # see `evidence.py`
        )
        return _handler_of(module)

    def _source(self, chunk_bytes: int) -> BotocoreReader:
        s3: Any = self.s3
        return BotocoreReader(s3, chunk_bytes, pause=self.schedule.pause)

    def _checksums(self) -> StoredChecksums | None:
        s3: Any = self.s3
        return StoredChecksums(s3) if s3.keeps_checksums else None

    def _time(self) -> float:
        return EPOCH + self.schedule.now

    def _report(self, module: ModuleType) -> Report:
        sqs: Any = self.sqs
        dead_letters = DeadLetters(sqs, _SETTINGS, self.schedule.random.random)
        vars(module)["_dead_letters"] = lambda: dead_letters
        return Report(dead_letters, SILENT, SILENT)
