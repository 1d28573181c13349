"""Inventories of S3 for a real Trino: files of the three formats, and a live Iceberg table."""

import csv
import gzip
import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from secrets import token_hex
from typing import Any, Final
from unittest.mock import Mock
from urllib.parse import quote_plus

from tests.cli.aws_calls import metadata_answer
from tests.cli.trino.trino_server import METASTORE, Trino

from bucketsum.backfill.inventory import Manifest
from bucketsum_cli.snapshots.database import DuckDb
from bucketsum_cli.snapshots.folder import LIVE, Listed
from bucketsum_cli.snapshots.glue_tables import FORMS
from bucketsum_cli.snapshots.inventories import (
    columns_of,
    dated,
    live_listing,
    live_name,
    live_table,
    manifest_listing,
)

COLUMNS: Final = ("Bucket", "Key", "VersionId", "IsLatest", "IsDeleteMarker", "Size",
                  "LastModifiedDate", "ETag", "StorageClass", "SequenceNumber")  # fmt: skip
LIVE_TYPES: Final = (
    "bucket varchar, key varchar, sequence_number varchar, version_id varchar, "
    "is_delete_marker boolean, size bigint, last_modified_date timestamp(6), e_tag varchar, "
    "storage_class varchar, is_multipart boolean, encryption_status varchar, "
    "is_bucket_key_enabled boolean, kms_key_arn varchar, checksum_algorithm varchar, "
    "object_tags map(varchar, varchar), user_metadata map(varchar, varchar)"
)
"""As AWS documents the live inventory table."""
_TYPES: Final = (
    "bucket VARCHAR, key VARCHAR, version_id VARCHAR, is_latest BOOLEAN, is_delete_marker BOOLEAN, "
    "size BIGINT, last_modified_date TIMESTAMP_MS, e_tag VARCHAR, storage_class VARCHAR, "
    "sequence_number VARCHAR"
)


def rows_of(listing: Sequence[Mapping[str, Any]], bucket: str) -> list[dict[str, Any]]:
    """The rows of an inventory of a *bucket*: its versions in *listing*, and delete markers."""
    versions = [entry for entry in listing if entry["bucket"] == bucket]
    rows = [
        {
            "bucket": bucket, "key": v["key"], "version_id": v["version"].replace("null", ""),
            "is_latest": v["latest"], "is_delete_marker": False, "size": v["size_bytes"],
            "last_modified_date": v["created_at"], "e_tag": v["etag"],
            "storage_class": v["storage_class"], "sequence_number": f"80e7{v['latest']:d}",
        }
        for v in versions
    ]  # fmt: skip
    hidden = {v["key"] for v in versions} - {v["key"] for v in versions if v["latest"]}
    of_markers = {"version_id": "marker", "is_latest": True, "is_delete_marker": True,
                  "sequence_number": "80e72"}  # fmt: skip
    return rows + [{"bucket": bucket, "key": key, **of_markers} for key in sorted(hidden)]


def put_inventory(
    trino: Trino, rows: Sequence[Mapping[str, Any]], keys: Listed, file_format: str
) -> str:
    """Write *rows* in a format, or as a live table; returns a query of the versions of *keys*."""
    schema = f"inventory_{token_hex(4)}"
    trino.run(f"CREATE SCHEMA {schema}")
    file = trino.folder / schema / "data" / "0"
    file.parent.mkdir(parents=True)
    if file_format == "CSV":
        _write_csv(file.with_suffix(".csv.gz"), rows)
    else:
        local = DuckDb()
        local.put_table("rows", _TYPES, rows)
        local.write_parquet("FROM rows", file)
        manifest = Manifest("", "", COLUMNS, (), "Parquet")
        _link(trino, f"{schema}.rows", manifest, file.parent)
    if file_format == LIVE:
        return _put_live(trino, f"{schema}.rows", replace(keys, inventory=LIVE))
    if file_format == "ORC":
        names = ", ".join(columns_of(manifest))
        trino.run(
            f"CREATE TABLE {schema}.orc WITH (format = 'ORC', "  # noqa: S608 - names of ours
            f"external_location = 'local:///{schema}/orc') AS SELECT {names} FROM {schema}.rows"
        )
        file = trino.folder / schema / "orc" / "x"
    manifest = Manifest("", "", COLUMNS, (), file_format)
    _link(trino, f"{schema}.files", manifest, file.parent)
    return manifest_listing(f"{schema}.files", keys, manifest)


def _write_csv(file: Path, rows: Sequence[Mapping[str, Any]]) -> None:
    with gzip.open(file, "wt", newline="") as text:
        writer = csv.writer(text, quoting=csv.QUOTE_ALL)
        for row in rows:
            values = {**row, "key": quote_plus(row["key"], safe="/")}
            values["last_modified_date"] = f"{row.get('last_modified_date', '2026-11-01')}.000Z"
            for name in ("is_latest", "is_delete_marker"):
                values[name] = str(row[name]).lower()
            names = columns_of(Manifest("", "", COLUMNS, ()))
            writer.writerow(values.get(name, "") for name in names)


def _link(trino: Trino, table: str, manifest: Manifest, folder: Path) -> None:
    """Make the *table* of links to the files of *folder*, as Glue has it."""
    links = trino.folder / f"{table}.links"
    links.mkdir()
    files = [path.relative_to(trino.folder) for path in folder.iterdir() if path.name[0] != "."]
    (links / "symlink.txt").write_text("".join(f"local:///{file}\n" for file in files))
    columns = columns_of(manifest)
    read, written, library = FORMS[f"links to {manifest.file_format.lower()}"]
    place = trino.folder / METASTORE / table.replace(".", "/")
    trino.run(f"CREATE TABLE {table} (x varchar)")
    [schema] = place.glob(".*Schema")
    values = json.loads(schema.read_text())
    for name in ("storageFormat", "externalLocation"):
        values.pop(name, None)
    values |= {
        "tableType": "EXTERNAL_TABLE", "externalLocation": f"local:///{links.name}",
        "dataColumns": [{"name": n, "type": kind} for n, kind in columns.items()],
        "originalStorageFormat": {"serde": library, "inputFormat": read, "outputFormat": written},
    }  # fmt: skip
    schema.write_text(json.dumps(values))


def _put_live(trino: Trino, rows: str, keys: Listed) -> str:
    """Fill the live table of *keys* with *rows*; what changes after it was dated is not asked."""
    s3 = Mock()
    s3.get_bucket_metadata_configuration.return_value = metadata_answer()
    name = live_name(live_table(s3, keys.bucket))
    trino.run(f"CREATE SCHEMA {name.rpartition('.')[0]}")
    trino.run(f"CREATE TABLE {name} ({LIVE_TYPES})")
    columns = "bucket, key, sequence_number, size, last_modified_date, e_tag, storage_class"
    trino.run(
        f"INSERT INTO {name} ({columns}, version_id, is_delete_marker) SELECT {columns}, "  # noqa: S608 - names of ours
        f"nullif(version_id, ''), nullif(is_delete_marker, false) FROM {rows}"
    )
    time.sleep(1.1)
    query = live_listing(live_table(s3, keys.bucket), dated(s3, keys, in_place=True))
    trino.run(f"DELETE FROM {name} WHERE sequence_number < '80e71'")  # noqa: S608 - as above
    trino.run(f"INSERT INTO {name} (bucket, key, sequence_number) VALUES ('x', 'a new', '9')")  # noqa: S608 - as above
    return query
