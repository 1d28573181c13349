"""Members of archives in the commands: ``KEY!/path``."""

from __future__ import annotations

from collections.abc import Iterator

from bucketsum.archives.member_rows import MemberRows
from bucketsum.table.archive_status import ArchiveStatus
from bucketsum.table.rows import Row
from bucketsum_cli.aws.stack import Stack
from bucketsum_cli.terminal.errors import CannotDoError
from bucketsum_cli.terminal.formatting import count_text
from bucketsum_cli.terminal.hints import command_line


class ArchiveMembers:
    """The rows of an archive's members whose paths start with *beginning*, by path.

    Attributes:
        archive: The archive's own row.
        record: What it says of the members.
        problem: Why some members are unknown; complete when the rows have been iterated.
    """

    def __init__(self, stack: Stack, archive: Row, beginning: str = "") -> None:
        """Refuse an object that was not read as an archive.

        Raises:
            CannotDoError: It was not.
        """
        if archive.archive is None:
            verify = command_line("verify", archive.bucket, "--missing", "members")
            raise CannotDoError(
                f"{archive.key} was not read as an archive; deploy with its suffix in "
                f"ArchiveSuffixes, then `{verify}`"
            )
        self._rows = MemberRows(stack.client("dynamodb"), stack.table)
        self._beginning = beginning
        self.archive = archive
        self.record = archive.archive
        self.problem: str | None = None
        if self.record.status is not ArchiveStatus.READ:
            self.problem = f"not all members of {archive.key} are known: {self.record.reason}"

    def __iter__(self) -> Iterator[Row]:
        """Yield the rows; counts them if all were requested."""
        rows = missing = 0
        for row in self._rows.of(self.archive, self._beginning):
            rows += 1
            missing += row.archive.members if row.archive else 0
            yield row
        missing += self.record.members - rows
        if missing and not (self._beginning or self.problem):
            self.problem = (
                f"{count_text(missing, 'member')} of {self.archive.key} without a row: put it again"
            )
