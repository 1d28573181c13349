"""Settings of the hasher, from environment variables.

They are read once at import, so that a bad deployment fails in Lambda's init phase.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from bucketsum.algorithms import EXTRA_ALGORITHMS
from bucketsum.environment import choice, listed, present, whole
from bucketsum.errors import BadSettings
from bucketsum.memory import (
    BASE_MEMORY_BYTES,
    CHUNK_BYTES_MAX,
    CHUNK_BYTES_MIN,
    archive_threads,
    has_second_core,
)
from bucketsum.s3.read_plan import AUTO_STREAMS, STREAMS_MAX, ReadPolicy
from bucketsum.table.archive_settings import ArchiveSettings, Limits, Mode

THREADS_MAX: Final = 8
"""Most small objects of a batch that are read in parallel; chosen by `bench function`."""

THREAD_BYTES: Final = 2_000_000
"""Memory of a thread in addition to its part of the object: connections and stack."""

MEMBER_BYTES: Final = 1500
"""Memory budget of a member while its archive is read.

Measured: 530 to 580 bytes with names of 33 characters (20,000 to 200,000 members, peak resident
set above the start). The rest is for longer names and for rows being written.
"""

ARCHIVE_MEMBERS_MAX: Final = 800_000
"""DynamoDB writes 1,000 rows per second with one partition key, which an archive's rows share: in
the 840 s that an invocation has for members, no more than this can be recorded."""

DELETED_ROW_DAYS_MAX: Final = 36_500

_MIB: Final = 1024 * 1024
_SUFFIX: Final = re.compile(r"\.[a-z0-9][a-z0-9._-]*")
_WINDOW_BYTES_MAX: Final = 64 * _MIB


@dataclass(frozen=True, slots=True)
class Settings:
    """Settings of the hasher, as deployed.

    Attributes:
        arrivals_queue_url: Queue of object-created messages.
        dead_letter_queue_url: Queue for messages that no retry can help.
        max_receives: Receives after which SQS itself dead-letters a message; 1 to 1,000.
        chunk_bytes: Size of a part if several connections read an object, and of botocore's reads.
        extra_algorithms: Digests in addition to SHA-1.
        memory_mb: The function's memory, in MiB, as Lambda reports it.
        read_policy: Chooses the number of connections for each object.
        threads: Small objects that are read in parallel: as many as fit, 1 to `THREADS_MAX`.
        archives: How archives are read; None if no object is read as an archive.
        long_objects_queue_url: Queue of the objects that one invocation cannot finish; None if
            there is none.
        deleted_row_days: Days after which rows of deleted objects expire; 0 if never.
        has_sha1_index: Whether rows are written into the index by-sha1 too.
        logs_objects: Whether a healthy object has a log line too.
        compares_checksums: Whether S3's own checksum is compared with the bytes.
    """

    digests_table: str
    arrivals_queue_url: str
    dead_letter_queue_url: str
    max_receives: int
    chunk_bytes: int
    extra_algorithms: tuple[str, ...]
    memory_mb: int
    read_policy: ReadPolicy
    threads: int = 1
    archives: ArchiveSettings | None = None
    long_objects_queue_url: str | None = None
    deleted_row_days: int = 0
    has_sha1_index: bool = True
    logs_objects: bool = True
    compares_checksums: bool = False

    @classmethod
    def from_env(cls, env: Mapping[str, str]) -> Settings:
        """Read the variables that template.yaml sets.

        Raises:
            BadSettings: A variable is missing, of the wrong type or out of range. The text names
                it, its value and the allowed values.
        """
        memory_mb = whole(env, "AWS_LAMBDA_FUNCTION_MEMORY_SIZE", 128, 32_768)
        chunk_bytes = whole(env, "CHUNK_BYTES", CHUNK_BYTES_MIN, CHUNK_BYTES_MAX)
        read_policy = ReadPolicy(_streams(env, "STREAMS"), chunk_bytes, memory_mb)
        room = memory_mb * _MIB - BASE_MEMORY_BYTES
        if read_policy.held_bytes > room:
            parts = read_policy.held_bytes // chunk_bytes
            raise BadSettings(
                f"CHUNK_BYTES is {chunk_bytes}; {parts} of them must fit into the {room} bytes "
                f"that {memory_mb} MB of memory leave: lower ChunkBytes to {room // parts}, lower "
                "Streams, or raise MemorySize"
            )
        return cls(
            digests_table=present(env, "DIGESTS_TABLE"),
            arrivals_queue_url=present(env, "ARRIVALS_QUEUE_URL"),
            dead_letter_queue_url=present(env, "DEAD_LETTER_QUEUE_URL"),
            max_receives=whole(env, "MAX_RECEIVES", 1, 1000),
            chunk_bytes=chunk_bytes,
            extra_algorithms=_algorithms(env, "EXTRA_ALGORITHMS"),
            memory_mb=memory_mb,
            read_policy=read_policy,
            threads=_threads(read_policy, room),
            archives=_archives(env, memory_mb, room - read_policy.held_bytes, chunk_bytes),
            long_objects_queue_url=env.get("LONG_OBJECTS_QUEUE_URL") or None,
            deleted_row_days=whole(env, "DELETED_ROW_DAYS", 0, DELETED_ROW_DAYS_MAX),
            has_sha1_index=choice(env, "SHA1_INDEX", ("yes", "no")) == "yes",
            logs_objects=choice(env, "LOG_OBJECTS", ("all", "problems")) == "all",
            compares_checksums=choice(env, "COMPARE_CHECKSUMS", ("no", "yes")) == "yes",
        )


def _threads(policy: ReadPolicy, room: int) -> int:
    """Number of small objects that fit into memory; `auto` reads each of them in one request."""
    object_bytes = 2 * policy.chunk_bytes if policy.count is None else policy.held_bytes
    return max(1, min(THREADS_MAX, room // (object_bytes + THREAD_BYTES)))


def _streams(env: Mapping[str, str], name: str) -> int | None:
    if present(env, name) == AUTO_STREAMS:
        return None
    try:
        return whole(env, name, 1, STREAMS_MAX)
    except BadSettings as error:
        raise BadSettings(f"{error}, nor {AUTO_STREAMS}") from None


def _algorithms(env: Mapping[str, str], name: str) -> tuple[str, ...]:
    names = listed(env, name)
    unknown = [algorithm for algorithm in names if algorithm not in EXTRA_ALGORITHMS]
    if unknown:
        raise BadSettings(
            f"{name} names {', '.join(unknown)}; allowed are {', '.join(EXTRA_ALGORITHMS)}"
        )
    return tuple(dict.fromkeys(names))


def _archives(
    env: Mapping[str, str], memory_mb: int, room: int, chunk_bytes: int
) -> ArchiveSettings | None:
    suffixes = _suffixes(env, "ARCHIVE_SUFFIXES")
    if not suffixes:
        return None
    present(env, "ARCHIVE_MODE")
    mode = choice(env, "ARCHIVE_MODE", (Mode.STREAM, Mode.TMP))
    second_core = has_second_core(memory_mb)
    room -= second_core * chunk_bytes  # the second core holds a third chunk
    depth = whole(env, "ARCHIVE_DEPTH", 0, 8)
    limits = Limits(
        members=whole(env, "ARCHIVE_MAX_MEMBERS", 1, ARCHIVE_MEMBERS_MAX),
        total_bytes=whole(env, "ARCHIVE_MAX_TOTAL_BYTES", 1, 10**15),
        ratio=whole(env, "ARCHIVE_MAX_RATIO", 1, 1_000_000),
        window_bytes=max(_MIB, min(_WINDOW_BYTES_MAX, room // 4)),
        depth=depth,
        nested_bytes=max(_MIB, room // 8 // max(depth, 1)),  # each open level keeps its archive
    )
    if limits.members * MEMBER_BYTES > room // 2:
        raise BadSettings(
            f"ARCHIVE_MAX_MEMBERS is {limits.members}; at {MEMBER_BYTES} bytes each they must fit "
            f"into half of the {room} bytes that {memory_mb} MB of memory leave: lower "
            f"ArchiveMaxMembers to {max(room // 2 // MEMBER_BYTES, 0)} or raise MemorySize"
        )
    threads = archive_threads(memory_mb)
    return ArchiveSettings(Mode(mode), limits, suffixes, threads, second_core=second_core)


def _suffixes(env: Mapping[str, str], name: str) -> tuple[str, ...]:
    suffixes = tuple(suffix.lower() for suffix in listed(env, name))
    for suffix in suffixes:
        if not _SUFFIX.fullmatch(suffix):
            raise BadSettings(f"{name} names {suffix!r}, not a suffix such as .zip")
    return suffixes
