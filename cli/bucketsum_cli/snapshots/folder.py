"""A snapshot is a folder: files in the form of DynamoDB's export, and a list of them."""

from __future__ import annotations

import base64
import hashlib
import json
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path
from typing import Annotated, Any, Final

from bucketsum.clock import seconds_since
from bucketsum_cli.machine.folders import kept_files
from bucketsum_cli.terminal.documents import json_text
from bucketsum_cli.terminal.errors import CannotDoError
from bucketsum_cli.terminal.hints import command_line
from bucketsum_cli.terminal.output import note

FORM: Final = 1
"""Version of the folder's form; a snapshot of another version is not read."""

ROWS: Final = "data"
LISTING: Final = "listing"
MEASUREMENTS: Final = "measurements"

LIVE: Final = "live"
"""In place of a manifest: the live inventory table that S3 Metadata keeps of a bucket."""

PARTIAL: Final = ".partial-"
"""The name of a folder begins so, until it is whole."""

LIST: Final = "snapshot.json"
_SUMMARY: Final = "manifest-summary.json"
_EXPORTED_FILES: Final = "manifest-files.json"
MANIFESTS: Final = (_SUMMARY, _EXPORTED_FILES)
"""Of DynamoDB's export."""
_FULL: Final = "FULL_EXPORT"
_BLOCK_BYTES: Final = 1024 * 1024
_NOT_A_LIST: Final = (AttributeError, KeyError, TypeError, ValueError, RecursionError)


class NoSnapshotError(CannotDoError):
    """There is no snapshot at a place."""


@dataclass(frozen=True, slots=True)
class SnapshotFile:
    """A file of a snapshot.

    Attributes:
        name: Its path in the folder; ``data/`` has rows, ``listing/`` keys of S3.
        rows: Number of its lines.
        md5: Of the file as it is, in hexadecimal.
    """

    name: str
    rows: int
    md5: str


@dataclass(frozen=True, slots=True)
class Listed:
    """The keys that a snapshot has a listing of."""

    bucket: str
    prefix: Annotated[str, "Beginning of the keys; empty for all."]
    inventory: Annotated[
        str, f"Manifest of an S3 inventory; `{LIVE}` is S3 Metadata's; empty if S3 was listed."
    ] = ""
    until: Annotated[str, "The time that an inventory has all changes until."] = ""


@dataclass(frozen=True, slots=True)
class Snapshot:
    """All rows of a stack at one time.

    Attributes:
        folder: Its folder on this machine.
        stack: Its name; of a table's export, the table's.
        account: Number of the AWS account.
        begun_at: When its first row was read.
        ended_at: When its last row was read.
        via: ``scan`` or ``export``.
        files: Its files of rows and of listings; those that DynamoDB exported have another list.
        listed: Keys that were listed in S3 too.
        is_kept: Whether a person took it; else a question did. Of those, the last 3 stay.
        place: The folder of S3 with its list, ``s3://BUCKET/FOLDER/``; empty if it is here alone.
        export: The folder in it that DynamoDB wrote.
    """

    folder: Path
    stack: str
    account: str
    region: str
    table: str
    begun_at: str
    ended_at: str
    via: str
    files: tuple[SnapshotFile, ...] = ()
    listed: tuple[Listed, ...] = ()
    is_kept: bool = True
    place: str = ""
    export: str = ""

    @property
    def name(self) -> str:
        """Its name for a person."""
        return self.place.rstrip("/") or str(self.folder)

    @property
    def url(self) -> str:
        """The folder of S3 with its rows; empty if they are here alone."""
        return self.place and f"{self.place}{self.export}"

    @property
    def rows(self) -> int:
        """Number of items of the digests table."""
        return sum(file.rows for file in self.of_kind(ROWS))

    @property
    def age_seconds(self) -> float:
        """Time since its last row was read."""
        return seconds_since(self.ended_at)

    @property
    def source(self) -> tuple[str, ...]:
        """Of the same table are those with the same source."""
        return (self.account, self.region, self.stack, self.table)

    @property
    def document(self) -> str:
        """The text of its list."""
        values = {name: value for name, value in asdict(self).items() if name != "folder"}
        return json_text({"form": FORM, **values})

    def of_kind(self, kind: str) -> list[SnapshotFile]:
        """Its files of one kind, as `ROWS`."""
        return [file for file in self.files if file.name.startswith(f"{kind}/")]


def snapshots_folder() -> Path:
    """The folder of all snapshots that were not written to another one."""
    return kept_files("snapshots")


def snapshots(*, is_quiet: bool = False) -> list[Snapshot]:
    """The snapshots in `snapshots_folder`, the newest first; notes which cannot be read."""
    kept = []
    for file in snapshots_folder().glob(f"[!.]*/{LIST}"):
        try:
            kept.append(read_snapshot(file.parent))
        except CannotDoError as error:
            if not is_quiet:
                note(error.message)
    return sorted(kept, key=lambda snapshot: snapshot.ended_at, reverse=True)


@contextmanager
def new_folder(folder: Path) -> Iterator[tuple[Path, Callable[[Snapshot], None]]]:
    """Yield a folder beside *folder*, and a function that makes it *folder* with its list.

    Raises:
        CannotDoError: There is such a folder, or it cannot be written; nothing is left of it.
    """
    if folder.exists():
        raise CannotDoError(f"{folder} exists; name a new folder with --to, or delete it")
    partial = folder.with_name(f"{PARTIAL}{os.getpid()}-{folder.name}")

    def complete(snapshot: Snapshot) -> None:
        (partial / LIST).write_text(snapshot.document, "utf-8")
        partial.rename(folder)

    try:
        for kind in (ROWS, LISTING, MEASUREMENTS):
            (partial / kind).mkdir(parents=True)
        yield partial, complete
    except OSError as error:
        reason = error.strerror or str(error)
        raise CannotDoError(
            f"the snapshot cannot be written to {folder}: {reason}; name another folder with --to"
        ) from error
    finally:
        shutil.rmtree(partial, ignore_errors=True)


def is_snapshot(folder: Path) -> bool:
    """Whether *folder* has the list of a snapshot, or an export's."""
    return (folder / LIST).exists() or (folder / _SUMMARY).exists()


def read_snapshot(folder: Path) -> Snapshot:
    """The snapshot in *folder*: one of `bucketsum snapshot`, or an export of DynamoDB.

    Raises:
        CannotDoError: There is none, or it is of another version.
    """
    is_export = not (folder / LIST).exists() and (folder / _SUMMARY).exists()
    try:
        snapshot = exported(folder) if is_export else _listed(folder)
        _require_form(snapshot)
    except FileNotFoundError as error:
        raise CannotDoError(
            f"{folder} is not a snapshot: it has neither {LIST} nor DynamoDB's {_SUMMARY} and "
            f"{_EXPORTED_FILES}; `{command_line('snapshot', 'list')}` shows the snapshots"
        ) from error
    except OSError as error:
        raise CannotDoError(f"{folder} cannot be read: {error.strerror or error}") from error
    except _NOT_A_LIST as error:
        name = _SUMMARY if is_export else LIST
        raise CannotDoError(f"{folder / name} is damaged: {error!r:.200}; take another") from error
    return snapshot


def _listed(folder: Path) -> Snapshot:
    values: dict[str, Any] = json.loads((folder / LIST).read_text("utf-8"))
    form = values.pop("form")
    if form != FORM:
        raise CannotDoError(
            f"{folder} was written by another version of bucketsum (form {form}, this one reads "
            f"{FORM}); take another with `{command_line('snapshot')}`"
        )
    values["files"] = tuple(SnapshotFile(**file) for file in values["files"])
    values["listed"] = tuple(Listed(**keys) for keys in values["listed"])
    return Snapshot(folder=folder, **values)


def _require_form(snapshot: Snapshot) -> None:
    """Refuse a list that another program changed: `read_snapshot` explains it."""
    keys = (text for part in snapshot.listed for text in (part.bucket, part.prefix, part.inventory))
    texts = (*snapshot.source, snapshot.via, snapshot.place, snapshot.export, *keys)
    "".join((*texts, *(file.name for file in snapshot.files))).encode()  # raises, unless all are
    inventoried = (part.until for part in snapshot.listed if part.inventory or part.until)
    for at in (snapshot.begun_at, snapshot.ended_at, *inventoried):
        if datetime.fromisoformat(at).tzinfo is None:
            raise ValueError(f"{at!r} is a time without a zone")
    for file in snapshot.files:
        kind, _, name = file.name.partition("/")
        is_here = kind in (ROWS, LISTING, MEASUREMENTS) and name not in ("", "..")
        if not is_here or {*"/\0"} & {*name} or not isinstance(file.rows, int):
            raise ValueError(f"{file.name!r} is not a file of a snapshot")


def exported(folder: Path) -> Snapshot:
    """An export, whose files are in *folder*/data under the names that S3 gave them."""
    summary = json.loads((folder / _SUMMARY).read_text("utf-8"))
    kind, of = summary.get("outputFormat"), summary.get("exportType", _FULL)
    if kind != "DYNAMODB_JSON" or of != _FULL:
        kind = kind if of == _FULL else of
        raise CannotDoError(
            f"{folder} is an export of the kind {kind}; export the whole table as DYNAMODB_JSON"
        )
    lines = (folder / _EXPORTED_FILES).read_text("utf-8").splitlines()
    entries = [json.loads(line) for line in lines if line]
    files = tuple(
        SnapshotFile(
            f"{ROWS}/{entry['dataFileS3Key'].rpartition('/')[2]}",
            int(entry["itemCount"]),
            base64.b64decode(entry["md5Checksum"], validate=True).hex(),
        )
        for entry in entries
    )
    if (count := sum(file.rows for file in files)) != summary["itemCount"]:
        raise CannotDoError(
            f"{folder} is not whole: {_SUMMARY} has {summary['itemCount']:,} items, "
            f"{_EXPORTED_FILES} has {count:,}; fetch both again"
        )
    _, _, _, region, account, table = summary["tableArn"].split(":")
    name = table.rpartition("/")[2]
    at = summary["exportTime"]
    return Snapshot(folder, name, account, region, name, at, at, "export", files)


def require_whole(snapshot: Snapshot) -> None:
    """Compare each file with its MD5.

    Raises:
        CannotDoError: A file is missing, cut off or another one.
    """
    for file in snapshot.files:
        path = snapshot.folder / file.name
        try:
            if path.is_symlink() or (path.exists() and not path.is_file()):
                problem = "it is not a regular file"
            elif md5_of(path) == file.md5:
                continue
            else:
                problem = "it is not the file that was written: its MD5 differs"
        except OSError as error:
            problem = error.strerror or str(error)
        raise CannotDoError(
            f"{path}: {problem}; the snapshot is damaged, take another with "
            f"`{command_line('snapshot')}`"
        )


def md5_of(path: Path) -> str:
    """The MD5 of a file, in hexadecimal."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, lambda: hashlib.md5(usedforsecurity=False)).hexdigest()
