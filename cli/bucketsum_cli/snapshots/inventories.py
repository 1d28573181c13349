"""Inventories of S3 as listings: those that it writes, and S3 Metadata's live tables."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, Final

from botocore.exceptions import ClientError

from bucketsum.backfill.inventory import FORMATS, Manifest, manifest_at, read_manifest
from bucketsum.errors import BadInventory
from bucketsum_cli.snapshots.folder import LIVE, Listed
from bucketsum_cli.snapshots.queries.schema import literal, time_of
from bucketsum_cli.snapshots.statements import quoted
from bucketsum_cli.terminal.errors import CannotDoError

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client

_DELAY: Final = timedelta(hours=2)
"""S3 takes about an hour to show a change in an inventory."""
_KEPT: Final = timedelta(hours=24)
"""S3 keeps the earlier states of a live table no longer."""
_CATALOG: Final = "s3tablescatalog/aws-s3"
_LIVE_COLUMNS: Final = ("VersionId", "IsLatest", "IsDeleteMarker", "StorageClass")
_FILLING: Final = ("CREATING", "BACKFILLING")
_LATEST_MS: Final = 253_402_300_799_000
_TYPES: Final = {
    "is_latest": "boolean", "is_delete_marker": "boolean", "size": "bigint",
    "last_modified_date": "timestamp",
}  # fmt: skip
"""Columns of ORC and Parquet that are not texts → their types in Glue."""


def dated(s3: S3Client, keys: Listed, *, in_place: bool) -> Listed:
    """*keys* with the time that their inventory has all changes until.

    Only those that are read *in_place* may be live, in ORC or in Parquet. A live one is read as it
    is now, whenever it is asked: see `live_listing`.

    Raises:
        BadInventory: It cannot be used.
        CannotDoError: As `live_table`, or the live table would be read on this machine.
    """
    if not keys.inventory:
        return keys
    if keys.inventory == LIVE:
        if not in_place:
            raise CannotDoError(
                "only Athena reads a live inventory table: add --athena, or --via export"
            )
        live_table(s3, keys.bucket)
        moment = datetime.now(UTC)
    else:
        formats = FORMATS if in_place else FORMATS[:1]
        begun_ms = manifest_at(s3, keys.inventory, keys.bucket, formats).begun_ms
        if not 0 < begun_ms <= _LATEST_MS:
            raise BadInventory(f"{keys.inventory} has no creationTimestamp")
        moment = datetime.fromtimestamp(begun_ms // 1000, UTC)
    return replace(keys, until=f"{moment - _DELAY:%Y-%m-%dT%H:%M:%S.000Z}")


def live_table(s3: S3Client, bucket: str) -> tuple[str, str]:
    """The database and the name of the live inventory table of *bucket*.

    Raises:
        CannotDoError: It has none, or S3 has not filled it.
    """
    configuration = _metadata_of(s3, bucket)
    table = configuration.get("InventoryTableConfigurationResult", {})
    state = table.get("TableStatus", "missing")
    if table.get("ConfigurationState") == "DISABLED":
        state = "DISABLED"
    if state != "ACTIVE":
        reason = table.get("Error", {}).get("ErrorMessage", "")
        action = "wait until it is ACTIVE" if state in _FILLING else "enable it in S3 Metadata"
        raise CannotDoError(
            f"the live inventory table of {bucket} is {state}{reason and f' ({reason})'}: {action},"
            " or have the bucket listed without --inventory live"
        )
    return configuration["DestinationResult"]["TableNamespace"], table["TableName"]


def _metadata_of(s3: S3Client, bucket: str) -> Any:  # noqa: ANN401 - parts of it may be absent
    """The configuration of S3 Metadata for *bucket*, empty if there is none."""
    try:
        answer = s3.get_bucket_metadata_configuration(Bucket=bucket)
    except ClientError as error:
        if error.response["Error"]["Code"] != "MetadataConfigurationNotFound":
            raise
        return {}
    return answer["GetBucketMetadataConfigurationResult"]["MetadataConfigurationResult"]


def live_listing(table: tuple[str, str], keys: Listed) -> str:
    """A query of the versions of *keys* in the live *table*, as it was when they were `dated`.

    Raises:
        CannotDoError: S3 does not keep this state any longer.
    """
    until = datetime.fromisoformat(keys.until)
    if not timedelta() <= datetime.now(UTC) - until <= _DELAY + _KEPT:
        raise CannotDoError(
            f"{keys.bucket} is listed until {keys.until}, and S3 keeps what a live inventory table "
            "was for 24 hours: take another snapshot, and ask it within a day"
        )
    at = f"{(until + _DELAY).astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC"
    rows = (
        "(SELECT *, row_number() OVER (PARTITION BY key ORDER BY sequence_number DESC) = 1 "  # noqa: S608 - names of S3
        f"AS is_latest FROM {live_name(table)} FOR TIMESTAMP AS OF TIMESTAMP '{at}') i"
    )
    return _listing(rows, keys, _LIVE_COLUMNS)


def live_name(table: tuple[str, str], part: str = "") -> str:
    """The name in SQL of a live *table*, or of a *part* of it, as ``$files``."""
    return ".".join(map(quoted, (_CATALOG, table[0], table[1] + part)))


def manifest_listing(table: str, keys: Listed, manifest: Manifest) -> str:
    """A query of the versions of *keys* in the files of a *manifest*, over which the *table* is."""
    return _listing(table, keys, manifest.columns, is_csv=manifest.file_format == "CSV")


def _listing(rows: str, keys: Listed, columns: Collection[str], *, is_csv: bool = False) -> str:
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
        f"{text('StorageClass', 'STANDARD')} AS storage_class FROM {rows} "
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
