"""What the prober does with one object, by the sweep's workload, and what it answers.

The prober's role is to be the hasher with a clock: nothing is imported here that the hasher does
without, and what reads archives only where one is read.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bucketsum.digest import digest_of
from bucketsum.errors import BadSettings, BadSweep
from bucketsum.measure import Meter
from bucketsum.notifications import ObjectCreated
from bucketsum.s3.read_plan import STREAMS_MAX, ReadPolicy
from bucketsum.settings import AUTO_STREAMS

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from mypy_boto3_s3 import S3Client

    from bucketsum.archives.reader import ArchiveSummary
    from bucketsum.measure import Measurement
    from bucketsum.s3.source import Source


class Prober:
    """Measures on one function."""

    def __init__(
        self, s3: S3Client, source_of: Callable[[ReadPolicy], Source], memory_mb: int
    ) -> None:
        """Set up what measuring needs.

        Args:
            s3: Reads a few bytes of an archive.
            source_of: What reads an object in such a way.
            memory_mb: The function's memory.
        """
        self._s3 = s3
        self._source_of = source_of
        self._memory_mb = memory_mb

    def probe(self, event: Mapping[str, Any]) -> dict[str, Any]:
        """Read what *event* names as it says: a cell and an object of a plan, in one.

        Raises:
            BadSweep: There is no such workload, or it cannot be done so.
            BucketsumError: The object could not be read.
        """
        workload, source = event["workload"], self._source_of(self._streams(event))
        if workload == "hash":
            return _hash(event, source)
        if workload == "unzip":
            return self._unzip(event, source)
        raise BadSweep(f"there is no workload {workload!r}")

    def _streams(self, event: Mapping[str, Any]) -> ReadPolicy:
        asked = event["streams"]
        if asked != AUTO_STREAMS and asked not in range(1, STREAMS_MAX + 1):
            raise BadSweep(f"streams is {asked!r}, neither {AUTO_STREAMS} nor in 1..{STREAMS_MAX}")
        count = None if asked == AUTO_STREAMS else asked
        return ReadPolicy(count, event["chunk_bytes"], self._memory_mb)

    def _unzip(self, event: Mapping[str, Any], source: Source) -> dict[str, Any]:
        # Imported here, as the hasher does where archives are on.
        from bucketsum.archives.workload import unzip, unzip_reader  # noqa: PLC0415 - as said
        from bucketsum.s3.range_reads import range_reader  # noqa: PLC0415 - as said

        try:
            reader = unzip_reader(event["mode"], event["inflate"], self._memory_mb)
        except BadSettings as error:  # this layer cannot; the next cell can
            return _failed("NotUnzipped", str(error))
        created = _arrival(event)
        read = range_reader(self._s3, created)
        sha1s: list[str] = []
        meter = Meter()
        digest, contents = unzip(
            source, read, created, reader, lambda one: sha1s.append(one.digest.sha1 or "")
        )
        answer = _answer(event, digest.sha1, meter, meter.stop(digest.size_bytes))
        answer |= {
            "mode": contents.mode,
            "inflate": reader.engine,
            "members": contents.members,
            "directories": contents.directories,
            "member_bytes": contents.member_bytes,
        }
        return answer | _wrong_contents(event, contents, sha1s)


def _hash(event: Mapping[str, Any], source: Source) -> dict[str, Any]:
    meter = Meter()
    digest = digest_of(source.open(_arrival(event)).chunks)
    return _answer(event, digest.sha1, meter, meter.stop(digest.size_bytes))


def _arrival(event: Mapping[str, Any]) -> ObjectCreated:
    size_bytes = event["size_bytes"]
    return ObjectCreated(
        event["bucket"], event["key"], None, None, size_bytes, sequencer="", event_time=""
    )


def _answer(
    event: Mapping[str, Any], sha1: str, meter: Meter, measurement: Measurement
) -> dict[str, Any]:
    answer = {
        "status": "ok",
        "size_bytes": measurement.size_bytes,
        "seconds": round(measurement.seconds, 6),
        "mb_per_s": round(measurement.mb_per_s, 6),
        "cpu_seconds": measurement.cpu_seconds and round(measurement.cpu_seconds, 6),
        "max_rss_bytes": measurement.max_rss_bytes,
        "rss_of": "reading" if meter.peak_was_reset else "process",
        "digest_ok": sha1 == event["sha1"],
        "sha1": sha1,
    }
    if sha1 != event["sha1"]:
        answer |= _failed("WrongDigest", f"expected the SHA-1 {event['sha1']}")
    return {name: value for name, value in answer.items() if value is not None}


def _wrong_contents(
    event: Mapping[str, Any], contents: ArchiveSummary, sha1s: list[str]
) -> dict[str, Any]:
    """Why the members are not what they should be; nothing where they are."""
    from bucketsum.sweep.generated_archive import members_sha1  # noqa: PLC0415 - for archives alone

    if contents.reason is not None:
        return _failed("NotUnzipped", contents.reason)
    if contents.unreadable:
        return _failed("NotUnzipped", f"{contents.unreadable} members are not readable")
    got = {
        "members": contents.members,
        "directories": contents.directories,
        "member_bytes": contents.member_bytes,
        "members_sha1": members_sha1(sha1s),
    }
    wrong = {name: one for name, one in (event.get("contents") or {}).items() if got[name] != one}
    if wrong:
        told = ", ".join(f"{name} {got[name]} instead of {one}" for name, one in wrong.items())
        return _failed("WrongMembers", told)
    return {}


def _failed(error: str, cause: str) -> dict[str, Any]:
    return {"status": "failed", "error": error, "cause": cause}
