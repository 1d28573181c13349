"""Environment → frozen Settings, read once at import, so that a bad deploy fails in init."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from bucketsum.archives.model import Limits, Mode
from bucketsum.digest import EXTRA_ALGORITHMS
from bucketsum.errors import BadSettings
from bucketsum.s3.read_plan import STREAMS_MAX, ReadPolicy

if TYPE_CHECKING:
    from collections.abc import Mapping

    from bucketsum.archives.reader import ArchiveReader

CHUNK_BYTES_MIN: Final = 16 * 1024
CHUNK_BYTES_MAX: Final = 512 * 1024 * 1024

BASE_MEMORY_BYTES: Final = 90_000_000
"""What the runtime, boto3 and Powertools take before the first chunk; measured by `make bench`."""

THREADS_MAX: Final = 8
"""Small objects of a batch that are read side by side at most; chosen by `bench function`."""

THREAD_BYTES: Final = 2_000_000
"""What a thread takes in memory besides what it holds of its object: connections, its stack."""

MEMBER_BYTES: Final = 1500
"""What a member is reckoned to take in memory while its archive is read.

Measured: 530 to 580 bytes with names of 33 characters (20,000 to 200,000 members, peak resident
set above the start). The rest is for longer names and for rows on their way.
"""

AUTO_STREAMS: Final = "auto"
"""The value of `STREAMS` that leaves the number of connections to `ReadPolicy`."""

MEMORY_MB_PER_CPU: Final = 1769
"""A function of this memory has one processor."""

_MIB: Final = 1024 * 1024
_SUFFIX: Final = re.compile(r"\.[a-z0-9][a-z0-9._-]*")
_WINDOW_BYTES_MAX: Final = 64 * _MIB


@dataclass(frozen=True, slots=True)
class Settings:
    """How the hasher was deployed.

    Attributes:
        digests_table: Name of the table that rows go to.
        arrivals_queue_url: Queue that messages come from.
        dead_letter_queue_url: Queue that messages are set aside in.
        max_receives: Receives after which the queue itself gives up on a message; 1 to 1,000.
        chunk_bytes: Size of a part, where several connections read an object, and of what
            botocore reads at a time.
        extra_algorithms: Digests besides SHA-1.
        memory_mb: The function's memory, in MiB, as Lambda tells it.
        streams: How many connections read an object.
        threads: How many small objects are read side by side, 1 to `THREADS_MAX`: as many as fit.
        archives: How archives are read; None where nothing is treated as one.
    """

    digests_table: str
    arrivals_queue_url: str
    dead_letter_queue_url: str
    max_receives: int
    chunk_bytes: int
    extra_algorithms: tuple[str, ...]
    memory_mb: int
    streams: ReadPolicy
    threads: int = 1
    archives: ArchiveReader | None = None

    @classmethod
    def from_env(cls, env: Mapping[str, str]) -> Settings:
        """Read the variables that template.yaml sets.

        Raises:
            BadSettings: One is missing, not of its type or out of range. The text names it, what
                it holds and what it may hold.
        """
        memory_mb = _whole(env, "AWS_LAMBDA_FUNCTION_MEMORY_SIZE", 128, 32_768)
        chunk_bytes = _whole(env, "CHUNK_BYTES", CHUNK_BYTES_MIN, CHUNK_BYTES_MAX)
        streams = ReadPolicy(_streams(env, "STREAMS"), chunk_bytes, memory_mb)
        room = memory_mb * _MIB - BASE_MEMORY_BYTES
        if streams.held_bytes > room:
            parts = streams.held_bytes // chunk_bytes
            raise BadSettings(
                f"CHUNK_BYTES is {chunk_bytes}; {parts} of them must fit into the {room} bytes "
                f"that {memory_mb} MB of memory leave: lower ChunkBytes to {room // parts}, lower "
                "Streams, or raise MemorySize"
            )
        return cls(
            digests_table=_present(env, "DIGESTS_TABLE"),
            arrivals_queue_url=_present(env, "ARRIVALS_QUEUE_URL"),
            dead_letter_queue_url=_present(env, "DEAD_LETTER_QUEUE_URL"),
            max_receives=_whole(env, "MAX_RECEIVES", 1, 1000),
            chunk_bytes=chunk_bytes,
            extra_algorithms=_algorithms(env, "EXTRA_ALGORITHMS"),
            memory_mb=memory_mb,
            streams=streams,
            threads=_threads(streams, room),
            archives=_archives(env, memory_mb, room - streams.held_bytes, chunk_bytes),
        )


def _threads(streams: ReadPolicy, room: int) -> int:
    """How many small objects fit beside each other; `auto` reads each of them in one request."""
    each = 2 * streams.chunk_bytes if streams.count is None else streams.held_bytes
    return max(1, min(THREADS_MAX, room // (each + THREAD_BYTES)))


def needed(env: Mapping[str, str], *names: str) -> tuple[str, ...]:
    """The values of *names*, for functions that have no settings besides.

    Raises:
        BadSettings: One is missing or empty.
    """
    return tuple(_present(env, name) for name in names)


def _present(env: Mapping[str, str], name: str) -> str:
    value = env.get(name, "")
    if not value:
        raise BadSettings(f"{name} is not set")
    return value


def _whole(env: Mapping[str, str], name: str, low: int, high: int) -> int:
    text = _present(env, name)
    if not (text.isascii() and text.isdigit()):
        raise BadSettings(f"{name} is {text!r}, not a whole number in {low}..{high}")
    if not low <= int(text) <= high:
        raise BadSettings(f"{name} is {text}, not in {low}..{high}")
    return int(text)


def _streams(env: Mapping[str, str], name: str) -> int | None:
    if _present(env, name) == AUTO_STREAMS:
        return None
    try:
        return _whole(env, name, 1, STREAMS_MAX)
    except BadSettings as error:
        raise BadSettings(f"{error}, nor {AUTO_STREAMS}") from None


def _algorithms(env: Mapping[str, str], name: str) -> tuple[str, ...]:
    names = tuple(part.strip() for part in env.get(name, "").split(",") if part.strip())
    unknown = [one for one in names if one not in EXTRA_ALGORITHMS]
    if unknown:
        raise BadSettings(
            f"{name} names {', '.join(unknown)}; allowed are {', '.join(EXTRA_ALGORITHMS)}"
        )
    return tuple(dict.fromkeys(names))


def _archives(
    env: Mapping[str, str], memory_mb: int, room: int, chunk_bytes: int
) -> ArchiveReader | None:
    suffixes = _suffixes(env, "ARCHIVE_SUFFIXES")
    if not suffixes:
        return None
    # Imported here: with archives off, which is the default, a cold start does without them.
    from bucketsum.archives.reader import ArchiveReader  # noqa: PLC0415 - as said

    mode = _present(env, "ARCHIVE_MODE")
    if mode not in (Mode.STREAM, Mode.TMP):
        raise BadSettings(f"ARCHIVE_MODE is {mode!r}; allowed are stream and tmp")
    aside = memory_mb > MEMORY_MB_PER_CPU  # there is a second core, and it holds a third chunk
    room -= aside * chunk_bytes
    limits = Limits(
        members=_whole(env, "ARCHIVE_MAX_MEMBERS", 1, 10_000_000),
        total_bytes=_whole(env, "ARCHIVE_MAX_TOTAL_BYTES", 1, 10**15),
        ratio=_whole(env, "ARCHIVE_MAX_RATIO", 1, 1_000_000),
        window_bytes=max(_MIB, min(_WINDOW_BYTES_MAX, room // 4)),
        depth=_whole(env, "ARCHIVE_DEPTH", 0, 8),
        nested_bytes=max(_MIB, room // 8),
    )
    if limits.members * MEMBER_BYTES > room // 2:
        raise BadSettings(
            f"ARCHIVE_MAX_MEMBERS is {limits.members}; at {MEMBER_BYTES} bytes each they must fit "
            f"into half of the {room} bytes that {memory_mb} MB of memory leave: lower "
            f"ArchiveMaxMembers to {max(room // 2 // MEMBER_BYTES, 0)} or raise MemorySize"
        )
    threads = max(2, -(-memory_mb // MEMORY_MB_PER_CPU))  # one waits for the disk, one computes
    return ArchiveReader(Mode(mode), limits, suffixes, threads, aside=aside)


def _suffixes(env: Mapping[str, str], name: str) -> tuple[str, ...]:
    suffixes = tuple(part.strip().lower() for part in env.get(name, "").split(",") if part.strip())
    for one in suffixes:
        if not _SUFFIX.fullmatch(one):
            raise BadSettings(f"{name} names {one!r}, not a suffix such as .zip")
    return suffixes
