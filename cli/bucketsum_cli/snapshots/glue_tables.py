"""Databases of bucketsum's own in Glue, each with the files of its tables in a folder."""

from __future__ import annotations

import hashlib
import re
import secrets
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Final

from bucketsum_cli.aws.connection import Connection
from bucketsum_cli.buckets.bucket_contents import emptied_folder
from bucketsum_cli.buckets.s3_place import S3Place
from bucketsum_cli.snapshots.folder import Snapshot
from bucketsum_cli.snapshots.stored import bytes_below
from bucketsum_cli.terminal.errors import CannotDoError

_DATABASE: Final = re.compile("bucketsum_[0-9a-f]{16}")
_HIVE: Final = "org.apache.hadoop.hive.ql.io"
_JSON: Final = ("org.apache.hadoop.mapred.TextInputFormat",
                f"{_HIVE}.HiveIgnoreKeyTextOutputFormat",
                "org.openx.data.jsonserde.JsonSerDe")  # fmt: skip
_PARQUET: Final = (f"{_HIVE}.parquet.MapredParquetInputFormat",
                   f"{_HIVE}.parquet.MapredParquetOutputFormat",
                   f"{_HIVE}.parquet.serde.ParquetHiveSerDe")  # fmt: skip
_LINKED: Final = (f"{_HIVE}.SymlinkTextInputFormat", f"{_HIVE}.HiveIgnoreKeyTextOutputFormat")
FORMS: Final = {
    "json": _JSON, "parquet": _PARQUET,
    "links to csv": (*_LINKED, "org.apache.hadoop.hive.serde2.OpenCSVSerde"),
    "links to orc": (*_LINKED, f"{_HIVE}.orc.OrcSerde"),
    "links to parquet": (*_LINKED, _PARQUET[2]),
}  # fmt: skip
"""Form → formats of input and output, and what reads a row; links are lines with a file each."""
_SIZE: Final = "bucketsum.bytes"


@dataclass(frozen=True, slots=True)
class AthenaPlace:
    """A database in Glue, and the folder of S3 for the files of its tables.

    Attributes:
        url: The person's, ``s3://BUCKET/FOLDER``; the folder has the name of the database.
    """

    url: str
    database: str

    @classmethod
    def new(cls, url: str) -> AthenaPlace:
        """A new place below *url*.

        Raises:
            CannotDoError: *url* is not such a URL.
        """
        return cls(str(S3Place.of_folder(url)).rstrip("/"), f"bucketsum_{secrets.token_hex(8)}")

    @property
    def files(self) -> S3Place:
        """The folder of its files."""
        return S3Place.of_folder(f"{self.url}/{self.database}")


def database_of(snapshot: Snapshot) -> str:
    """The database of a snapshot in S3: everybody who asks it finds the same tables."""
    return f"bucketsum_{hashlib.sha256(snapshot.url.encode()).hexdigest()[:16]}"


class GlueTables:
    """The tables of one database, which is made if there is none."""

    def __init__(self, aws: Connection, place: AthenaPlace, form: str = "") -> None:
        """Files stay where they are, or are at *place*; tables of another *form* are deleted."""
        self._glue, self._s3 = aws.client("glue"), aws.client("s3")
        if (there := _place_in(aws, place.database)) and there[1] != form:
            delete_tables(aws, place.database)
            there = None
        if there is None:
            with suppress(self._glue.exceptions.AlreadyExistsException):
                values = {"Name": place.database, "LocationUri": str(place.files)}
                self._glue.create_database(DatabaseInput=values | {"Description": form})
        self.place = there[0] if there else place

    def sizes(self) -> dict[str, int]:
        """The tables that are there → bytes of their files."""
        pages = self._glue.get_paginator("get_tables").paginate(DatabaseName=self.place.database)
        return {
            table["Name"]: int(table["Parameters"].get(_SIZE, 0))
            or bytes_below(self._s3, S3Place.of_folder(table["StorageDescriptor"]["Location"]))
            for table in pages.search("TableList[]")
        }

    def add(
        self, name: str, columns: Mapping[str, str], form: str, location: S3Place, size: int = 0
    ) -> None:
        """Make the table *name* over files of this *form*; links need the *size* of their files."""
        read, written, library = FORMS[form]
        with suppress(self._glue.exceptions.AlreadyExistsException):
            self._glue.create_table(
                DatabaseName=self.place.database,
                TableInput={
                    "Name": name,
                    "TableType": "EXTERNAL_TABLE",
                    "Parameters": {"classification": form.rpartition(" ")[2], _SIZE: str(size)},
                    "StorageDescriptor": {
                        "Columns": [{"Name": n, "Type": kind} for n, kind in columns.items()],
                        "Location": str(location),
                        "InputFormat": read,
                        "OutputFormat": written,
                        "SerdeInfo": {"SerializationLibrary": library},
                    },
                },
            )


def delete_tables(aws: Connection, database: str) -> None:
    """Delete the *database* with its tables, and the files of its folder.

    Raises:
        CannotDoError: It is not one of bucketsum's own, or its folder is not.
    """
    there = _place_in(aws, database)
    if there is None:
        return
    place, _ = there
    glue, s3 = aws.client("glue"), aws.client("s3")
    with suppress(glue.exceptions.EntityNotFoundException):
        glue.delete_database(Name=database)
    with suppress(s3.exceptions.NoSuchBucket):
        for _ in emptied_folder(s3, place.files, database):
            pass


def _place_in(aws: Connection, name: str) -> tuple[AthenaPlace, str] | None:
    """The place of the database *name*, and the form of its tables; None if there is none.

    Raises:
        CannotDoError: Another program made it, or changed where its files are.
    """
    glue = aws.client("glue")
    try:
        database = glue.get_database(Name=name)["Database"]
    except glue.exceptions.EntityNotFoundException:
        return None
    url = database.get("LocationUri", "").rstrip("/")
    if not _DATABASE.fullmatch(name) or not url.endswith(f"/{name}"):
        raise CannotDoError(
            f"the database {name} of Glue, whose files are in {url or 'no folder'}, is left as it "
            "is: its name or its folder is not one of bucketsum's own"
        )
    return AthenaPlace(url.removesuffix(f"/{name}"), name), database.get("Description", "")
