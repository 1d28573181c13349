"""Local files compared with the members of an archive, as if they were extracted from it."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from bucketsum.table.rows import Row
from bucketsum_cli.aws.stack import Stack
from bucketsum_cli.objects.files import FileSelection, LocalFile, files_under
from bucketsum_cli.objects.members import ArchiveMembers
from bucketsum_cli.objects.pending import listing_hint
from bucketsum_cli.objects.versions import newest_version
from bucketsum_cli.terminal.errors import CannotDoError
from bucketsum_cli.terminal.hints import command_line
from bucketsum_cli.terminal.live_progress import with_bar
from bucketsum_cli.terminal.output import note

_NUMBER: Final = re.compile(r"~\d+$")
"""What makes the path of a duplicate unique."""


@dataclass(frozen=True, slots=True)
class Members:
    """Members of an archive by their paths; of identical duplicates, extracting leaves one.

    Attributes:
        folder: Only members below this folder of the archive are meant.
        all_known: Whether all members have a row.
        archive: The archive's own row.
    """

    rows: Mapping[str, Row]
    folder: str
    all_known: bool
    archive: Row

    @property
    def links(self) -> set[str]:
        """Paths of symbolic links: the content of such a member is the path of its target."""
        links = [path for path, row in self.rows.items() if "symlink" in row.remarks]
        return {form for path in links for form in (path, _extracted(path))}

    def on_disk(self, files: Collection[str]) -> dict[str, Row]:
        """Return the members by the paths that extracting gave them, of which *files* are there."""
        named = {}
        for path, row in self.rows.items():
            plain = _extracted(path)
            is_as_recorded = (
                path in files or plain in self.rows
            )  # with both names, both are members
            named[path if is_as_recorded else plain] = row
        return {path: row for path, row in named.items() if path.startswith(self.folder)}


def _extracted(path: str) -> str:
    """The path that extractors give a member: below their folder, with ``/`` between the parts."""
    return path.replace("\\", "/").lstrip("/").removeprefix("./") or path


def members_by_path(stack: Stack, key: str, folder: str) -> Members:
    """Return the members in *folder* of the archive that is at *key* now.

    Notes it if not all members are known.

    Raises:
        CannotDoError: It is not in the bucket, not recorded yet, or was not read as an archive.
    """
    newest = newest_version(stack.client("s3"), stack.digests_table(), stack.bucket, key)
    if newest is None:
        raise CannotDoError(f"{key} is not in the bucket; {listing_hint()}")
    _, archive = newest
    if archive is None:
        raise CannotDoError(
            f"the newest version of {key} is not recorded yet; see "
            f"`{command_line('ls', key)}` and `{command_line('failures')}`"
        )
    members = ArchiveMembers(stack, archive)
    listed = with_bar(members, "reading the archive's rows")
    paths = {row.member.path: row for row in listed if row.member}
    if members.problem:
        note(members.problem)
    unique = {
        path: row
        for path, row in paths.items()
        if "duplicate" not in row.remarks
        or (first := paths.get(_NUMBER.sub("", path))) is None
        or first.sha1 != row.sha1
    }
    return Members(unique, folder, members.problem is None, archive)


def files_as_members(paths: Iterable[Path], folder: str, links: Iterable[str]) -> FileSelection:
    """Return the files at and under *paths*, as if they were in an archive: keys are member paths.

    Paths are relative to the given folder; *folder*, in the archive, comes before. The member paths
    *links* are symbolic links: those on the disk are returned wherever they lead to.

    Raises:
        CannotDoError: As `files_under`.
    """
    selection = FileSelection()
    for path in paths:
        part = files_under([path])
        name = os.path.basename(os.path.abspath(path))  # noqa: PTH100, PTH119 - as `files_under`
        outer = f"{name}/" if path.is_dir() else ""
        linked = {path / link.removeprefix(folder): link for link in links} if outer else {}
        linked = {place: link for place, link in linked.items() if place.is_symlink()}
        selection.files.extend(
            replace(file, key=folder + file.key.removeprefix(outer))
            for file in part.files
            if file.path not in linked
        )
        selection.files.extend(LocalFile(place, link, 0) for place, link in linked.items())
        selection.skipped.extend(skip for skip in part.skipped if skip.path not in linked)
    return selection
