"""Environment → frozen Settings, read once at import, so that a bad deploy fails in init."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from bucketsum.digest import EXTRA_ALGORITHMS
from bucketsum.errors import BadSettings

if TYPE_CHECKING:
    from collections.abc import Mapping

CHUNK_BYTES_MIN: Final = 16 * 1024
CHUNK_BYTES_MAX: Final = 512 * 1024 * 1024

BASE_MEMORY_BYTES: Final = 90_000_000
"""What the runtime, boto3 and Powertools take before the first chunk; measured by `make bench`."""

_MIB: Final = 1024 * 1024


@dataclass(frozen=True, slots=True)
class Settings:
    """How the hasher was deployed.

    Attributes:
        digests_table: Name of the table that rows go to.
        arrivals_queue_url: Queue that messages come from.
        dead_letter_queue_url: Queue that messages are set aside in.
        max_receives: Receives after which the queue itself gives up on a message; 1 to 1,000.
        chunk_bytes: How much is read and hashed at a time.
        extra_algorithms: Digests besides SHA-1.
        memory_mb: The function's memory, in MiB, as Lambda tells it.
    """

    digests_table: str
    arrivals_queue_url: str
    dead_letter_queue_url: str
    max_receives: int
    chunk_bytes: int
    extra_algorithms: tuple[str, ...]
    memory_mb: int

    @classmethod
    def from_env(cls, env: Mapping[str, str]) -> Settings:
        """Read the variables that template.yaml sets.

        Raises:
            BadSettings: One is missing, not of its type or out of range. The text names it, what
                it holds and what it may hold.
        """
        memory_mb = _whole(env, "AWS_LAMBDA_FUNCTION_MEMORY_SIZE", 128, 32_768)
        chunk_bytes = _whole(env, "CHUNK_BYTES", CHUNK_BYTES_MIN, CHUNK_BYTES_MAX)
        room = memory_mb * _MIB - BASE_MEMORY_BYTES
        if 2 * chunk_bytes > room:  # see `SingleStream`
            raise BadSettings(
                f"CHUNK_BYTES is {chunk_bytes}; two chunks must fit into the {room} bytes that "
                f"{memory_mb} MB of memory leave: lower ChunkBytes to {room // 2} or raise "
                "MemorySize"
            )
        return cls(
            digests_table=_present(env, "DIGESTS_TABLE"),
            arrivals_queue_url=_present(env, "ARRIVALS_QUEUE_URL"),
            dead_letter_queue_url=_present(env, "DEAD_LETTER_QUEUE_URL"),
            max_receives=_whole(env, "MAX_RECEIVES", 1, 1000),
            chunk_bytes=chunk_bytes,
            extra_algorithms=_algorithms(env, "EXTRA_ALGORITHMS"),
            memory_mb=memory_mb,
        )


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


def _algorithms(env: Mapping[str, str], name: str) -> tuple[str, ...]:
    names = tuple(part.strip() for part in env.get(name, "").split(",") if part.strip())
    unknown = [one for one in names if one not in EXTRA_ALGORITHMS]
    if unknown:
        raise BadSettings(
            f"{name} names {', '.join(unknown)}; allowed are {', '.join(EXTRA_ALGORITHMS)}"
        )
    return tuple(dict.fromkeys(names))
