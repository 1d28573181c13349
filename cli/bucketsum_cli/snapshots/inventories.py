"""Inventories that S3 writes, as listings."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Final

from bucketsum.backfill.inventory import FORMATS, Manifest, manifest_at, read_manifest
from bucketsum.errors import BadInventory
from bucketsum_cli.snapshots.folder import Listed
from bucketsum_cli.snapshots.queries.schema import literal, time_of

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client

_DELAY: Final = timedelta(hours=2)
"""S3 takes about an hour to show a change in an inventory."""
_LATEST_MS: Final = 253_402_300_799_000
_TYPES: Final = {
    "is_latest": "boolean", "is_delete_marker": "boolean", "size": "bigint",
    "last_modified_date": "timestamp",
}  # fmt: skip
"""Columns of ORC and Parquet that are not texts → their types in Glue."""


def dated(s3: S3Client, keys: Listed, *, in_place: bool) -> Listed:
    """*keys* with the time that their inventory has all changes until.

    Only those that are read *in_place* may be in ORC or in Parquet.

    Raises:
        BadInventory: It cannot be used.
    """
    if not keys.inventory:
        return keys
    formats = FORMATS if in_place else FORMATS[:1]
    begun_ms = manifest_at(s3, keys.inventory, keys.bucket, formats).begun_ms
    if not 0 < begun_ms <= _LATEST_MS:
        raise BadInventory(f"{keys.inventory} has no creationTimestamp")
    moment = datetime.fromtimestamp(begun_ms // 1000, UTC)
    return replace(keys, until=f"{moment - _DELAY:%Y-%m-%dT%H:%M:%S.000Z}")


def manifest_listing(table: str, keys: Listed, manifest: Manifest) -> str:
    """A query of the versions of *keys* in the files of a *manifest*, over which the *table* is."""
    columns, is_csv = manifest.columns, manifest.file_format == "CSV"

    def text(column: str, absent: str) -> str:
        value = f"coalesce(nullif(CAST({_snake(column)} AS varchar), ''), '{absent}')"
        return value if column in columns else f"'{absent}'"

    key = "url_decode(key)" if is_csv else "key"
    created_at = "CAST(last_modified_date AS timestamp(3))"
    return (
        f"SELECT * FROM (SELECT {literal(keys.bucket)} AS bucket, {key} AS key, "  # noqa: S608 - names of ours, and literals
        f"{text('VersionId', 'null')} AS version, {text('IsLatest', 'true')} = 'true' AS latest, "
        "CAST(nullif(CAST(size AS varchar), '') AS bigint) AS size_bytes, e_tag AS etag, "
        f"{time_of('last_modified_date') if is_csv else created_at} AS created_at, "
        f"{text('StorageClass', 'STANDARD')} AS storage_class FROM {table} "
        f"WHERE {text('IsDeleteMarker', 'false')} <> 'true') v "
        f"WHERE starts_with(key, {literal(keys.prefix)})"
    )


def columns_of(manifest: Manifest) -> dict[str, str]:
    """The columns of the files of a *manifest* → their types in Glue, in order."""
    types = {} if manifest.file_format == "CSV" else _TYPES
    return {name: types.get(name, "string") for name in map(_snake, manifest.columns)}


def links_at(s3: S3Client, url: str) -> tuple[Manifest, str]:
    """The manifest at *url*, and the lines of a file that is a table of its files.

    Raises:
        BadInventory: A key would be two lines.
    """
    manifest = read_manifest(s3, url)
    keys = [file.key for file in manifest.files]
    if any({*key} & {*"\r\n"} for key in keys):
        raise BadInventory(f"a file of the inventory in {manifest.bucket} has an end of line")
    return manifest, "".join(f"s3://{manifest.bucket}/{key}\n" for key in keys)


def _snake(column: str) -> str:
    """The name in ORC and in Parquet of a *column* of CSV."""
    return re.sub("(?<=.)(?=[A-Z])", "_", column).lower()
