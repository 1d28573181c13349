"""Athena over a snapshot: its views as Parquet in a bucket of the user's, in a Glue database."""

from __future__ import annotations

import fcntl
import json
import re
import secrets
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from itertools import chain
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from boto3.exceptions import Boto3Error
from boto3.s3.transfer import S3Transfer
from botocore.exceptions import ClientError

from bucketsum.prices import ATHENA_BYTE
from bucketsum_cli.aws.connection import Connection
from bucketsum_cli.buckets.bucket_contents import emptied_folder
from bucketsum_cli.buckets.s3_place import S3Place
from bucketsum_cli.snapshots.database import Answer, DuckDb
from bucketsum_cli.snapshots.folder import ATHENA, Snapshot
from bucketsum_cli.snapshots.tables import VIEWS
from bucketsum_cli.terminal.errors import CannotDoError
from bucketsum_cli.terminal.formatting import size_text, usd_text
from bucketsum_cli.terminal.live_progress import notes
from bucketsum_cli.terminal.output import note

_POLL_SECONDS: Final = 0.5
_LEAST_BYTES: Final = 10 * 1024 * 1024
"""What a query is billed for at least."""
_DATABASE: Final = re.compile("bucketsum_[0-9a-f]{16}")
_WORD: Final = re.compile(r"\w+")
_QUERY: Final = re.compile(r"\s*(SELECT|WITH)\b", re.IGNORECASE)
_ABSENT: Final = ("EntityNotFoundException", "NoSuchBucket")
_PARQUET: Final = "org.apache.hadoop.hive.ql.io.parquet"
_HIVE: Final = {
    "VARCHAR": "string", "BIGINT": "bigint", "INTEGER": "int", "DOUBLE": "double",
    "BOOLEAN": "boolean", "TIMESTAMP": "timestamp",
}  # fmt: skip
"""DuckDB's types of columns → Glue's."""
_READ: Final[Mapping[str, Callable[[str], Any]]] = {
    "bigint": int, "integer": int, "double": float, "boolean": lambda text: text == "true",
    "timestamp": lambda text: datetime.fromisoformat(text).replace(tzinfo=UTC),
}  # fmt: skip
"""Athena's types of columns → the value of a text in its answer."""


@dataclass(frozen=True, slots=True)
class AthenaPlace:
    """Where Athena finds tables.

    Attributes:
        url: The user's, ``s3://BUCKET/FOLDER``.
        database: The Glue database, and the folder of its files below *url*.
    """

    region: str
    url: str
    database: str

    @classmethod
    def new(cls, region: str, url: str) -> AthenaPlace:
        """A new place below *url*.

        Raises:
            CannotDoError: *url* is not such a URL.
        """
        url = str(S3Place.of_folder(url)).rstrip("/")
        return cls(region, url, f"bucketsum_{secrets.token_hex(8)}")

    @property
    def files(self) -> S3Place:
        """The folder of its files."""
        return S3Place.of_folder(f"{self.url}/{self.database}")


@contextmanager
def place_for(aws: Connection, url: str, snapshot: Snapshot | None) -> Iterator[AthenaPlace]:
    """Yield the place of *snapshot* below *url*, for this process alone; the first time, a new one.

    Without a snapshot, it is a new one that is deleted at the end.

    Raises:
        CannotDoError: That of the snapshot is in another Region, or below another URL.
    """
    wanted = AthenaPlace.new(aws.region, url)
    if snapshot is None:
        try:
            yield wanted
        finally:
            delete_tables(aws, wanted)
        return
    with (snapshot.folder / ATHENA).open("a+", encoding="utf-8") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        kept = kept_place(snapshot)
        if kept is None:
            file.write(json.dumps(asdict(wanted)))
            file.flush()
        elif (kept.region, kept.url) != (wanted.region, wanted.url):
            raise CannotDoError(
                f"the tables of {snapshot.folder} are in {kept.url}, in {kept.region}: name that "
                "with --athena, or take another snapshot"
            )
        yield kept or wanted


def kept_place(snapshot: Snapshot) -> AthenaPlace | None:
    """The place of *snapshot*; None if Athena was never asked."""
    file = snapshot.folder / ATHENA
    text = file.read_text("utf-8") if file.exists() else ""
    return AthenaPlace(**json.loads(text)) if text else None


def delete_tables(aws: Connection, place: AthenaPlace) -> None:
    """Delete the Glue database with its tables, and all files of *place*.

    Raises:
        CannotDoError: `AthenaPlace.new` did not name the database: another program changed it.
    """
    if not _DATABASE.fullmatch(place.database):
        raise CannotDoError(
            f"the database {place.database} is not deleted: {ATHENA} of the snapshot must name "
            "one of bucketsum's own, such as bucketsum_0123456789abcdef"
        )
    with _absent_is_fine():
        aws.client("glue").delete_database(Name=place.database)
    with _absent_is_fine():
        for _ in emptied_folder(aws.client("s3"), place.files, place.database):
            pass


class Athena:
    """An engine over the views and tables of a local database.

    What a query names is written to the place before: a view once, the table of a question anew.
    """

    def __init__(
        self, local: DuckDb, aws: Connection, place: AthenaPlace, workgroup: str = "primary"
    ) -> None:
        self._local = local
        self._place = place
        self._workgroup = workgroup
        self._athena, self._glue, self._s3 = map(aws.client, ("athena", "glue", "s3"))

    def lock(self) -> None:
        """Nothing is locked: Athena reaches what the user's permissions allow."""

    def select(self, sql: str) -> Answer:
        """Run a person's query.

        Raises:
            CannotDoError: It does not begin with SELECT or WITH, or Athena refuses it.
        """
        if not _QUERY.match(sql):
            raise CannotDoError("a query for Athena must begin with SELECT or WITH")
        return self.run(sql.rstrip().removesuffix(";"))

    def run(self, sql: str) -> Answer:
        """Run one statement, after a note of what it costs at most.

        Raises:
            CannotDoError: Athena refuses it.
        """
        kept, tables = self._kept_tables(), self._tables()
        scanned = 0
        for name in tables.keys() & set(_WORD.findall(sql)):
            is_kept = name in kept and not tables[name]
            scanned += kept[name] if is_kept else self._put(name, is_new=name not in kept)
        scanned = max(scanned, _LEAST_BYTES)
        usd = usd_text(scanned * ATHENA_BYTE.each)
        note(f"Athena scans at most {size_text(scanned)} of {self._place.url}, for {usd} USD")
        query = self._athena.start_query_execution(
            QueryString=sql,
            QueryExecutionContext={"Database": self._place.database},
            WorkGroup=self._workgroup,
            **self._results(),
        )["QueryExecutionId"]
        is_headed = self._wait(query)
        pages = self._athena.get_paginator("get_query_results").paginate(QueryExecutionId=query)
        return _answer(iter(pages), is_headed=is_headed)

    def _results(self) -> dict[str, Any]:
        """Where results go; nothing if the workgroup decides that: it may refuse another place.

        Raises:
            CannotDoError: The workgroup is disabled.
        """
        group = self._athena.get_work_group(WorkGroup=self._workgroup)["WorkGroup"]
        if group.get("State") == "DISABLED":
            raise CannotDoError(f"the workgroup {self._workgroup} is disabled; see --workgroup")
        settings = group.get("Configuration", {})
        if settings.get("ManagedQueryResultsConfiguration", {}).get("Enabled"):
            return {}
        if settings.get("EnforceWorkGroupConfiguration"):
            place = settings.get("ResultConfiguration", {}).get("OutputLocation")
            note(f"the workgroup {self._workgroup} keeps results in {place}; nothing deletes them")
            return {}
        return {"ResultConfiguration": {"OutputLocation": f"{self._place.files}results/"}}

    def _tables(self) -> dict[str, bool]:
        """The views, and the tables of a question → whether it is one of these."""
        names = self._local.run(
            "SELECT table_name, temporary FROM duckdb_tables() "
            "UNION ALL SELECT view_name, temporary FROM duckdb_views() WHERE NOT internal"
        )
        return {name: own for name, own in names if own or name in VIEWS}

    def _kept_tables(self) -> dict[str, int]:
        """Tables that are there → bytes of their files; the database is made if there is none."""
        name = self._place.database
        with _absent_is_fine("AlreadyExistsException"):
            self._glue.create_database(DatabaseInput={"Name": name})
        pages = self._glue.get_paginator("get_tables").paginate(DatabaseName=name)
        return {
            table["Name"]: int(table["Parameters"]["totalSize"])
            for page in pages
            for table in page["TableList"]
        }

    def _put(self, name: str, *, is_new: bool) -> int:
        """Write the table *name* to the place; returns the size of its file."""
        files = self._place.files
        with TemporaryDirectory(prefix="bucketsum-") as folder:
            file = Path(folder, "0.parquet")
            with notes().status(f"writing {name} to {self._place.url} ..."):
                columns = self._local.write_parquet(f"FROM {name}", file)
                size = file.stat().st_size
                try:
                    with S3Transfer(self._s3) as transfer:
                        transfer.upload_file(
                            str(file), files.bucket, f"{files.key}{name}/0.parquet"
                        )
                except Boto3Error as error:
                    raise CannotDoError(str(error)) from error
        put = self._glue.create_table if is_new else self._glue.update_table
        put(
            DatabaseName=self._place.database,
            TableInput={
                "Name": name,
                "TableType": "EXTERNAL_TABLE",
                "Parameters": {"classification": "parquet", "totalSize": str(size)},
                "StorageDescriptor": {
                    "Columns": [
                        {"Name": column, "Type": _HIVE[kind]} for column, kind in columns.items()
                    ],
                    "Location": f"{files}{name}/",
                    "InputFormat": f"{_PARQUET}.MapredParquetInputFormat",
                    "OutputFormat": f"{_PARQUET}.MapredParquetOutputFormat",
                    "SerdeInfo": {"SerializationLibrary": f"{_PARQUET}.serde.ParquetHiveSerDe"},
                },
            },
        )
        return size

    def _wait(self, query: str) -> bool:
        """Wait for the end of *query*; returns whether its answer begins with the columns' names.

        Raises:
            CannotDoError: It failed.
        """
        try:
            with notes().status("asking Athena ..."):
                while True:
                    answer = self._athena.get_query_execution(QueryExecutionId=query)
                    execution = answer["QueryExecution"]
                    if execution["Status"]["State"] not in ("QUEUED", "RUNNING"):
                        break
                    time.sleep(_POLL_SECONDS)
        except KeyboardInterrupt:
            self._athena.stop_query_execution(QueryExecutionId=query)
            raise
        status = execution["Status"]
        if status["State"] == "CANCELLED":
            raise CannotDoError(
                f"the workgroup {self._workgroup} ended the query, as its limit of bytes does: "
                f"{status.get('StateChangeReason')}; name another with --workgroup"
            )
        if status["State"] != "SUCCEEDED":
            raise CannotDoError(f"Athena: {status.get('StateChangeReason')}")
        return bool(execution["StatementType"] == "DML")


def _answer(pages: Iterator[Mapping[str, Any]], *, is_headed: bool) -> Answer:
    first = next(pages)["ResultSet"]
    described = first["ResultSetMetadata"]["ColumnInfo"]
    readers = [_READ.get(column["Type"], str) for column in described]
    rows = chain(
        first["Rows"][is_headed:], chain.from_iterable(page["ResultSet"]["Rows"] for page in pages)
    )
    return Answer(
        [column["Name"] for column in described],
        (
            tuple(
                reader(datum["VarCharValue"]) if "VarCharValue" in datum else None
                for reader, datum in zip(readers, row["Data"], strict=True)
            )
            for row in rows
        ),
    )


@contextmanager
def _absent_is_fine(*codes: str) -> Iterator[None]:
    """Ignore that something is no longer there; or an error with one of *codes*."""
    try:
        yield
    except ClientError as error:
        if error.response["Error"]["Code"] not in (codes or _ABSENT):
            raise
