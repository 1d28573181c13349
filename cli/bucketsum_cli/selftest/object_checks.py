"""Checks of the hash path: objects and messages in, rows, log lines and dead letters out."""

from __future__ import annotations

import hashlib
import io
import zipfile
from collections.abc import Callable
from dataclasses import replace
from typing import Final

from bucketsum.archives.member_rows import MemberRows
from bucketsum.events.version import NULL
from bucketsum.table.archive_status import ArchiveStatus
from bucketsum.table.rows import Row, Status
from bucketsum_cli.backfill.purpose_words import VERIFICATION
from bucketsum_cli.selftest.check import (
    CheckOutcome,
    Finding,
    SelftestCheck,
    failed,
    known_difference,
    passed,
    skipped,
    warning,
)
from bucketsum_cli.selftest.scratch import Scratch
from bucketsum_cli.selftest.scratch_runs import report_of, run_of
from bucketsum_cli.terminal.formatting import count_text, size_text, speed_text

_LARGE: Final = b"bucketsum" * 600_000  # in two parts
_ODD_NAME: Final = "odd key +1 100%25 &=ü 日本.txt"
_MEMBERS: Final = {"one.txt": b"first", "folder/two.txt": b"second"}
_UNVERSIONED: Final = "the bucket keeps no versions"


def _sha1(content: bytes) -> str:
    return hashlib.sha1(content, usedforsecurity=False).hexdigest()


def _compared(row: Row, content: bytes) -> Finding:
    """The finding for the row of an object with *content*."""
    if row.sha1 != _sha1(content):
        return failed(f"the row has {row.sha1 or row.reason} for {_sha1(content)}")
    if len(content) < len(_LARGE):  # a speed says nothing of so few bytes
        return passed()
    return passed(f"{size_text(row.size_bytes)} at {speed_text(row.mb_per_s)} MB/s")


def _hashes(name: str, content: bytes) -> Callable[[Scratch], Finding]:
    """A check that puts an object with *content*."""
    return lambda scratch: _compared(scratch.row(scratch.put(name, content)), content)


def _overwritten(scratch: Scratch) -> Finding:
    contents = (b"first", b"second")
    versions = [(scratch.put("overwritten", content), content) for content in contents]
    if versions[0][0].version.is_null:
        return skipped(_UNVERSIONED)
    findings = [_compared(scratch.row(row_key), content) for row_key, content in versions]
    return next(
        (finding for finding in findings if finding.outcome is CheckOutcome.FAILED), passed()
    )


def _sequencer(scratch: Scratch) -> Finding:
    """Delete an object, put it again, and check that S3's sequencers grow.

    Without versions, a wrong order would leave the new object marked as deleted.
    """
    content = b"put again"
    row_key = scratch.put("sequencer", b"deleted")
    first = scratch.row(row_key)
    scratch.delete_object(first)
    unmarked = "the row is not marked as deleted within the time"
    deletion = scratch.recorded(row_key, lambda row: row.deletion, unmarked)
    row_key = scratch.put("sequencer", content)
    second = scratch.recorded(row_key, lambda row: row if row.sha1 == _sha1(content) else None)
    sequencers = (first.sequencer, deletion.sequencer, second.sequencer)
    order = " then ".join(sequencer.rstrip("0") for sequencer in sequencers)
    grows = sorted(sequencers) == list(sequencers)
    return passed(order) if grows else failed(f"it does not grow: {order}")


def _duplicate(scratch: Scratch) -> Finding:
    before = scratch.row(scratch.put("duplicate", b"sent twice"))
    scratch.send_again(before)
    line = scratch.object_line(before.key, "unchanged")
    if line is None:
        return failed("no log line `unchanged` for the second event")
    after = scratch.stack.digests_table().versions_of(before.bucket, before.key)
    return passed() if after == [before] else failed("the second event changed the row")


def _deleted(scratch: Scratch) -> Finding:
    """Send an event without a version for a key that no longer exists."""
    row = _deleted_object(scratch, "deleted")
    return _outcome_of_absent(scratch, replace(row, entry=NULL.entry))


def _missing_version(scratch: Scratch) -> Finding:
    row = _deleted_object(scratch, "missing-version")
    return skipped(_UNVERSIONED) if row.version.is_null else _outcome_of_absent(scratch, row)


def _deleted_object(scratch: Scratch, name: str) -> Row:
    """Put an object, then delete it and its row; returns the deleted row."""
    row = scratch.row(scratch.put(name, b"deleted before it is read"))
    scratch.delete_object(row)
    scratch.delete_row(row)
    return row


def _outcome_of_absent(scratch: Scratch, row: Row) -> Finding:
    """Send the event of the absent object; its outcome shows how S3 answered."""
    scratch.send_again(row)
    is_gone = scratch.object_line(row.key, "gone") is not None
    rows = scratch.stack.digests_table().versions_of(row.bucket, row.key)
    if is_gone:
        return failed("gone, but there is a row") if rows else passed("S3 answers 404: gone")
    if rows and rows[0].status is Status.UNREADABLE:
        return warning(f"S3 answers 403, not 404: the object is unreadable ({rows[0].reason})")
    return failed("no log line `gone` within the time")


def _unreadable(scratch: Scratch) -> Finding:
    """An object of the storage class Glacier cannot be read until it is restored."""
    row = scratch.row(scratch.put("unreadable", b"archived", StorageClass="GLACIER"))
    if row.status is not Status.ARCHIVED:
        detail = "an object in Glacier was read"
        return known_difference(detail) if scratch.stack.connection.is_local else failed(detail)
    scratch.send_again(row)
    if scratch.object_line(row.key, "archived", count=2) is None:
        return failed("its event was sent again, but it was not tried again within the time")
    return passed(row.reason or "")


def _malformed(scratch: Scratch) -> Finding:
    scratch.send_malformed()
    reason = scratch.remove_dead_letter()
    if reason is None:
        return failed("the message is not in the dead-letter queue within the time")
    return passed(reason) if reason else failed("the message has no reason")


def _archive(scratch: Scratch) -> Finding:
    function = scratch.stack.function_configuration()
    variables = function.get("Environment", {}).get("Variables", {})
    suffix = variables.get("ARCHIVE_SUFFIXES", "").partition(",")[0]
    if not suffix:
        return skipped("archives are off: ArchiveSuffixes is empty")
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as archive:
        for path, member in _MEMBERS.items():
            archive.writestr(path, member)
    row = scratch.row(scratch.put(f"archive{suffix}", content.getvalue()))
    if row.archive is None:
        return failed("it was not read as an archive")
    if row.archive.status is not ArchiveStatus.READ:
        return failed(f"{row.archive.status}: {row.archive.reason}")
    members = MemberRows(scratch.stack.client("dynamodb"), scratch.stack.table).of(row)
    digests = {member.member.path: member.sha1 for member in members if member.member}
    if digests != {path: _sha1(member) for path, member in _MEMBERS.items()}:
        return failed(f"the rows of the members are {digests}")
    return passed(count_text(len(digests), "member"))


def _log_line(scratch: Scratch) -> Finding:
    content = b"logged"
    row_key = scratch.put("logged", content)
    line = scratch.object_line(row_key.key, "hashed")
    if line is None:
        return failed("no log line of the object within the time")
    return passed() if line.get("sha1") == _sha1(content) else failed(f"it has {line.get('sha1')}")


def _backfill(scratch: Scratch) -> Finding:
    """Delete an object's row, as if its event never came, and backfill the object."""
    content = b"listed"
    row_key = scratch.put("backfill", content)
    scratch.delete_row(scratch.row(row_key))
    progress = run_of(row_key, scratch)
    if progress is None:
        return failed("it has not ended in time")
    if progress.has_failed or progress.tally.hashed != 1:
        return failed(f"{progress.state}: {progress.tally.hashed} of 1 objects hashed")
    return _compared(scratch.row(row_key), content)


def _verification(scratch: Scratch) -> Finding:
    """Read an object again, and wait for the report of that."""
    row_key = scratch.put("verification", b"verified")
    scratch.row(row_key)
    progress = run_of(row_key, scratch, VERIFICATION)
    if progress is None or progress.tally.verified != 1:
        state = "it has not ended in time" if progress is None else progress.state
        return failed(f"{state}: the object was not verified")
    report = report_of(progress.backfill.backfill_id, scratch)
    if report is None:
        return failed("it has no report in time")
    if failure := report.chained.failure:
        return failed(failure)
    return passed(f"report {report.chained.number}")


def _slices(scratch: Scratch) -> Finding:
    """Hash an object in one slice; a chain needs the same functions and rights, but takes hours."""
    content = b"in slices"
    row_key = scratch.put("slices", content)
    before = scratch.row(row_key)
    scratch.delete_row(before)
    scratch.send_slice(before)
    earlier = before.recorded_at
    row = scratch.recorded(row_key, lambda row: row if row.recorded_at != earlier else None)
    return _compared(row, content)


OBJECT_CHECKS: Final = (
    SelftestCheck("empty", "an empty object has its row", _hashes("empty", b""), 1),
    SelftestCheck(
        "odd-key",
        "a key with spaces, +, % and unicode is decoded",
        _hashes(_ODD_NAME, b"an odd key"),
        1,
    ),
    SelftestCheck(
        "multipart",
        "an object in parts is read whole",
        lambda scratch: _compared(scratch.row(scratch.put_in_parts("multipart", _LARGE)), _LARGE),
        2,
    ),
    SelftestCheck("overwritten", "each version of a key has its row", _overwritten, 2),
    SelftestCheck(
        "sequencer", "S3's sequencers order the objects and deletions of a key", _sequencer, 3
    ),
    SelftestCheck("duplicate", "an event that comes twice changes nothing", _duplicate, 2),
    SelftestCheck("deleted", "a key deleted before it is read gets no row", _deleted, 2),
    SelftestCheck("missing-version", "S3 answers 404 for a missing version", _missing_version, 2),
    SelftestCheck(
        "unreadable", "an archived object is tried again at its next event", _unreadable, 2
    ),
    SelftestCheck("malformed", "a malformed message is dead-lettered with a reason", _malformed, 1),
    SelftestCheck("archive", "the members of a zip archive have rows", _archive, 3),
    SelftestCheck("backfill", "a backfill hashes an object without a row", _backfill, 2),
    SelftestCheck("verification", "a verification ends with a report", _verification, 2),
    SelftestCheck("slices", "the function for long objects hashes one", _slices, 3),
    SelftestCheck("log", "the log line of an object arrives", _log_line, 1),
)
