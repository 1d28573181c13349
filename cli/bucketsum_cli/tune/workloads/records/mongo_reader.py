"""Records in a MongoDB collection of a server that the environment names."""

from __future__ import annotations

import importlib
import os
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from typing import Any, Final

from bucketsum.errors import BadSettings, SourceUnavailable
from bucketsum_lab.workloads.records.block_file import whole_records
from bucketsum_lab.workloads.records.data_set import WrongRecord, id_in
from bucketsum_lab.workloads.records.layouts import RECORDS_MONGODB, RecordLayout
from bucketsum_lab.workloads.records.probe import READERS
from bucketsum_lab.workloads.records.record_reader import (
    ReadOptions,
    ReadRecord,
    RecordReader,
    Store,
    each_timed,
)

_SCHEME: Final = "mongodb://"
_TIMEOUT_MS: Final = 5_000

_MONGODB: Final = ("mongod", "mongos")
_NAMES: Final = {"java": "mongo-java-server"}
"""Process → program, where they differ."""
_COMMIT: Final = "gitVersion"
"""MongoDB's build has it."""
_REFUSALS: Final = (13, 59)
"""MongoDB's codes of errors: this user may not, and there is no such command."""


def add() -> None:
    """Add MongoDB to the layouts of records that can be read."""
    READERS[RecordLayout.MONGODB] = MongoReader


class MongoReader(RecordReader):
    """A query for each record, in a database of its own that is dropped afterwards.

    Requests are those of MongoDB's driver: an insert for each chunk of the download, and a find
    for each record.
    """

    def __init__(self, store: Store, options: ReadOptions) -> None:
        """Connect to the server.

        Raises:
            BadSettings: The environment names none, or pymongo is not installed.
        """
        super().__init__(store, options)
        self._client = _connected(os.environ.get(RECORDS_MONGODB, ""))
        self._name = f"bucketsum-{uuid.uuid4().hex}"
        self._records = self._client[self._name]["records"]

    def build(self) -> None:
        """Insert all records, with the id as primary key."""
        with self._dropped_on_failure():
            self.database_server = server_name(self._client.admin.command)
            for records in whole_records(self._downloaded()):
                if records:
                    documents = [{"_id": id_in(record), "record": record} for record in records]
                    self._records.insert_many(documents, ordered=False)
            statistics = self._client[self._name].command("collStats", "records")
            self.stored_bytes = int(statistics["size"])  # of the documents, without their index

    def fetch_records(self, record_ids: Sequence[int]) -> Iterator[ReadRecord]:
        """See `RecordReader.fetch_records` for the contract."""
        with self._dropped_on_failure():
            yield from each_timed(self._record, record_ids)
            self._client.drop_database(self._name)
        self._client.close()

    def _record(self, record_id: int) -> bytes:
        document = self._records.find_one(record_id)
        if document is None:
            raise WrongRecord(f"the collection has no record {record_id}")
        return bytes(document["record"])

    @contextmanager
    def _dropped_on_failure(self) -> Iterator[None]:
        """Leave no database behind, and turn the driver's errors into bucketsum's."""
        try:
            yield
        except BaseException as error:
            with suppress(Exception), closing(self._client):  # the first error tells the reason
                self._client.drop_database(self._name)
            if type(error).__module__.startswith("pymongo."):
                raise SourceUnavailable(f"MongoDB: {error}") from error
            raise


def _connected(address: str) -> Any:  # noqa: ANN401 - pymongo is optional, so it has no types here
    if not address.startswith(_SCHEME):
        raise BadSettings(f"the environment variable {RECORDS_MONGODB} has no {_SCHEME} address")
    try:
        pymongo = importlib.import_module("pymongo")
    except ImportError as error:
        raise BadSettings(f"pymongo is not installed: {error}") from error
    return pymongo.MongoClient(address, serverSelectionTimeoutMS=_TIMEOUT_MS)


def server_name(command: Callable[[str], Mapping[str, Any]]) -> str:
    """The program that speaks MongoDB's protocol and its version, from the answers to *command*.

    It is MongoDB only if its process and its build both say so. Others state the version of
    MongoDB whose protocol they speak.
    """
    build = command("buildInfo")
    try:
        process = str(command("serverStatus").get("process", ""))
    except Exception as error:
        if getattr(error, "code", None) not in _REFUSALS:
            raise
        process = ""
    program = process.removesuffix(".exe")
    if program in _MONGODB and _COMMIT in build:
        return f"MongoDB {build['version']}"
    name = _NAMES.get(program, program) or "unnamed server"
    return f"{name} (protocol of MongoDB {build['version']})"
