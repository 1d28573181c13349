"""Readers of layouts that are built on /tmp from the data set in S3."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Final

from bucketsum_lab.protocol.page_cache import PageCache, drop
from bucketsum_lab.workloads.records.block_file import (
    BlockFile,
    BlockLayout,
    whole_records,
    write_block_file,
)
from bucketsum_lab.workloads.records.data_set import WrongRecord, id_in
from bucketsum_lab.workloads.records.record_reader import ReadRecord, RecordReader, each_timed

_DATABASE: Final = "records.sqlite"
_INSERT: Final = "INSERT INTO records VALUES (?, ?)"
_SELECT: Final = "SELECT record FROM records WHERE id = ?"


class _TmpReader(RecordReader):
    def _built(self, path: Path) -> None:
        """Count the bytes of the file at *path*; for a cold page cache, drop the file from it."""
        self.stored_bytes = path.stat().st_size
        if self._options.page_cache is PageCache.COLD:
            drop(path)


class BlockFileReader(_TmpReader):
    """The block file of Fernandez and Turner (2023): a dictionary finds each record's block."""

    def build(self) -> None:
        """Write the block file."""
        layout = BlockLayout(self._options.block_bytes, self._store.records)
        path = self._options.folder / "records.blocks"
        write_block_file(path, layout, self._downloaded())
        self._built(path)

    def load(self) -> None:
        """Load the dictionary of positions."""
        self._file = BlockFile(self._options.folder / "records.blocks")

    def fetch_records(self, record_ids: Sequence[int]) -> Iterator[ReadRecord]:
        """See `RecordReader.fetch_records` for the contract."""
        with closing(self._file):
            yield from each_timed(self._file.record, record_ids)


class SqliteReader(_TmpReader):
    """An SQLite database with an index of the ids.

    As a primary key, ids in random order would make the build three times as long: measured.
    """

    def build(self) -> None:
        """Insert all records without a journal, then sort the ids."""
        with closing(self._connected()) as database:
            database.execute("PRAGMA journal_mode = OFF")
            database.execute("PRAGMA synchronous = OFF")
            database.execute("CREATE TABLE records (id INTEGER, record BLOB)")
            for records in whole_records(self._downloaded()):
                database.executemany(_INSERT, ((id_in(record), record) for record in records))
            database.execute("CREATE UNIQUE INDEX by_id ON records (id)")
            database.commit()
        self._built(self._options.folder / _DATABASE)

    def load(self) -> None:
        """Open the database, and read its schema."""
        self._database = self._connected()
        self._database.execute(_SELECT, (0,)).fetchone()

    def fetch_records(self, record_ids: Sequence[int]) -> Iterator[ReadRecord]:
        """See `RecordReader.fetch_records` for the contract."""
        with closing(self._database):
            yield from each_timed(self._record, record_ids)

    def _connected(self) -> sqlite3.Connection:
        return sqlite3.connect(self._options.folder / _DATABASE)

    def _record(self, record_id: int) -> bytes:
        row = self._database.execute(_SELECT, (record_id,)).fetchone()
        if row is None:
            raise WrongRecord(f"the database has no record {record_id}")
        record: bytes = row[0]
        return record
