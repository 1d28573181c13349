"""Sides of a comparison: objects of a snapshot, digests in their names, or a manifest."""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from bucketsum.algorithms import ALGORITHMS
from bucketsum_cli.buckets.s3_place import S3Place
from bucketsum_cli.manifests.formats import is_manifest_name
from bucketsum_cli.snapshots.folder import (
    Listed,
    NoSnapshotError,
    Snapshot,
    is_snapshot,
    read_snapshot,
)
from bucketsum_cli.snapshots.manifest_rows import STDIN, ManifestFile
from bucketsum_cli.terminal.errors import CannotDoError
from bucketsum_cli.terminal.output import note

_PATHS: Final = ("/", ".", "~")
_PLACE: Final = re.compile(r"\{(\w+)\}")


@dataclass(frozen=True, slots=True)
class Objects:
    """The current objects of a bucket whose keys begin with a prefix.

    Attributes:
        snapshot: The snapshot of another stack; None is the one that the comparison takes.
    """

    keys: Listed
    snapshot: Snapshot | None = None


def side_of(text: str, stored: Callable[[str], Snapshot] | None = None) -> Objects | ManifestFile:
    """The side that *text* names, by the first line that fits; *stored* finds snapshots in S3.

    ========================================== =====================================================
    ``-``                                      a manifest on stdin
    ``s3://…/NAME#BUCKET[/PREFIX]``            objects of a snapshot in S3, if there is one
    ``s3://BUCKET``, ``s3://BUCKET/PREFIX/``   objects
    ``s3://BUCKET/KEY``                        a manifest
    a folder that is a snapshot                its objects
    ``FOLDER#BUCKET[/PREFIX]``                 its objects that are named
    a file, a pipe                             a manifest
    begins with ``/``, ``.`` or ``~``          a file that is not there
    is called as a manifest is                 the same
    any other, also if it is a folder          ``BUCKET[/PREFIX]``: objects
    ========================================== =====================================================

    Raises:
        CannotDoError: There is no such file; the folder is not a snapshot, or has several buckets.
    """
    if text == STDIN:
        return ManifestFile(text)
    if S3Place.is_url(text):
        return _side_in_s3(text, stored)
    folder, mark, keys = text.partition("#")
    if Path(folder).is_dir() and (is_snapshot(Path(folder)) or not _may_be_bucket(folder, mark)):
        return _objects_in(folder, keys if mark else None)
    path = Path(text)
    if path.exists() and not path.is_dir():
        return ManifestFile(text)
    if text.startswith(_PATHS):
        raise CannotDoError(f"there is no file {text}")
    if is_manifest_name(text):
        raise CannotDoError(f"there is no file {text}; write s3://{text} for a bucket of this name")
    if path.is_dir():
        note(f"{text} is taken for a bucket; the folder of this name is not a snapshot")
    place = S3Place.of(f"s3://{text}")
    return Objects(Listed(place.bucket, place.key))


def _side_in_s3(text: str, stored: Callable[[str], Snapshot] | None) -> Objects | ManifestFile:
    url, mark, keys = text.partition("#")
    if mark and stored:
        with suppress(NoSnapshotError):
            return Objects(_keys(keys), stored(url))
    place = S3Place.of(text)
    is_manifest = place.key and not place.key.endswith("/")
    return ManifestFile(text) if is_manifest else Objects(Listed(place.bucket, place.key))


def _may_be_bucket(folder: str, mark: str) -> bool:
    """Whether *folder* can be a bucket and a prefix, with a *mark* as a part of a key."""
    return not folder.startswith(_PATHS) and (not mark or "/" in folder)


def _objects_in(folder: str, keys: str | None) -> Objects:
    """The objects of the snapshot in *folder*; None is all of its only bucket."""
    snapshot = read_snapshot(Path(folder))
    buckets = {listed.bucket for listed in snapshot.listed}
    if keys is None and len(buckets) != 1:
        raise CannotDoError(
            f"name the bucket in {folder}, as {folder}#BUCKET or {folder}#BUCKET/PREFIX"
        )
    return Objects(Listed(buckets.pop(), "") if keys is None else _keys(keys), snapshot)


def _keys(text: str) -> Listed:
    bucket, _, prefix = text.partition("/")
    return Listed(bucket, prefix)


def name_pattern(text: str) -> tuple[str, str]:
    """The regular expression and the algorithm of a pattern as ``data/??/{sha256}``.

    ``?`` is any character, ``*`` any characters, both without a slash; the digest may have a slash
    after its first two digits. Too few or too many digits are a digest too, which differs.

    Raises:
        CannotDoError: It has not the name of one algorithm.
    """
    names = _PLACE.findall(text)
    if len(names) != 1 or names[0] not in ALGORITHMS:
        allowed = ", ".join(f"{{{name}}}" for name in ALGORITHMS)
        raise CannotDoError(f"{text} must have one of {allowed}, as in data/??/{{sha256}}")
    before, after = (
        re.escape(part).replace(r"\?", "[^/]").replace(r"\*", "[^/]*")
        for part in text.split(f"{{{names[0]}}}")
    )
    least = max(6, ALGORITHMS[names[0]].hex_digits // 2 - 2)
    return f"^{before}([0-9A-Fa-f]{{2}}/?[0-9A-Fa-f]{{{least},}}){after}$", names[0]
