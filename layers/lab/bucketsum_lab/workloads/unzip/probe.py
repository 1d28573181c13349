"""The probe of the workload ``unzip``: one archive, read once."""

from __future__ import annotations

from contextlib import closing
from dataclasses import fields

from bucketsum import memory
from bucketsum.archives import decoders
from bucketsum.archives.archive_reader import ArchiveReader
from bucketsum.digest import RunningDigest
from bucketsum.errors import BadSettings
from bucketsum.s3.range_reads import range_reader
from bucketsum.table.archive_settings import ArchiveSettings, Engine, Limits, Mode
from bucketsum.table.row_parts import ArchiveRecord
from bucketsum_lab.protocol.measuring import Meter
from bucketsum_lab.protocol.parameters import Value
from bucketsum_lab.protocol.probe import (
    ProbeAnswer,
    ProbeContext,
    ProbeEvent,
    answer_of,
    created_object,
    failed,
)
from bucketsum_lab.workloads.unzip.generated_archive import members_sha1
from bucketsum_lab.workloads.unzip.null_members import read_members
from bucketsum_lab.workloads.unzip.workload import AUTO_THREADS, MODE, NULL, UnzipStatistics


def probe(event: ProbeEvent, context: ProbeContext) -> ProbeAnswer:
    """Read the archive and its members, and compare them with the known contents."""
    mode = event["variant"]["mode"]
    try:
        reader = _reader(**event["variant"], memory_mb=context.policy.memory_mb)
    except BadSettings as error:  # this layer cannot; the next cell can
        return failed("NotUnzipped", str(error))
    created = created_object(event)
    read = range_reader(context.s3, created)
    digest = RunningDigest()
    meter = Meter()
    with closing(context.source.open(created).chunks) as chunks:
        if mode == NULL:
            passing, limits = digest.passing(chunks), reader.settings.limits
            summary = read_members(read, created.size_bytes, passing, limits, reader.engine)
            sha1s = None
        else:
            archive = reader.open(read, created.size_bytes)
            sha1s = [member.digest.sha1 or "" for member in archive.members(chunks, digest)]
            summary = archive.summary
    answer = {
        **answer_of(event, digest.digest(), meter),
        "mode": mode,
        "inflate": reader.engine,
        **_counts(summary),
    }
    if problem := _problem(event, summary, sha1s):
        answer |= failed(*problem)
    return answer


def _reader(
    mode: Value, inflate: Value, archive_threads: Value = AUTO_THREADS, *, memory_mb: int
) -> ArchiveReader:
    """The hasher's reader for this memory, without limits on the archive.

    Raises:
        BadSettings: There is no such mode, or the layer has no such engine.
    """
    if mode not in MODE.allowed:
        raise BadSettings(f"mode is {mode!r}; allowed are {', '.join(map(str, MODE.allowed))}")
    if inflate not in decoders.ENGINES:
        raise BadSettings(f"inflate is {inflate!r}; this layer has {', '.join(decoders.ENGINES)}")
    is_auto = archive_threads == AUTO_THREADS
    settings = ArchiveSettings(
        Mode.STREAM if mode == NULL else Mode(str(mode)),
        Limits(members=10_000_000, total_bytes=10**15, ratio=10**6),
        threads=memory.archive_threads(memory_mb) if is_auto else int(archive_threads),
        second_core=archive_threads != 1 and memory.has_second_core(memory_mb),
    )
    return ArchiveReader(settings, engine=Engine(str(inflate)))


def _counts(summary: ArchiveRecord) -> dict[str, Value]:
    return {field.name: getattr(summary, field.name) for field in fields(UnzipStatistics)}


def _problem(
    event: ProbeEvent, summary: ArchiveRecord, sha1s: list[str] | None
) -> tuple[str, str] | None:
    """Error and cause of a failed sample; None if all members are as expected."""
    if summary.reason is not None:
        return "NotUnzipped", summary.reason
    if summary.unreadable:
        return "NotUnzipped", f"{summary.unreadable} members are not readable"
    contents = _counts(summary)
    if sha1s is not None:
        contents["members_sha1"] = members_sha1(sha1s)
    wrong = [
        f"{name} {contents[name]} instead of {expected}"
        for name, expected in (event["contents"] or {}).items()
        if contents.get(name, expected) != expected
    ]
    return ("WrongMembers", ", ".join(wrong)) if wrong else None
