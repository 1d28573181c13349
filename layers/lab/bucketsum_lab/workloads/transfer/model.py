"""Names of clients, patterns, destinations and states, and the values of a pattern."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from bucketsum_lab.errors import BadSweep, FieldPlace
from bucketsum_lab.protocol.fields import shown
from bucketsum_lab.protocol.parameters import Parameter, Value


class ClientName(StrEnum):
    """A program or library that reads files from S3."""

    LIBCURL = "libcurl"
    """The hasher's own reader."""
    BOTO3 = "boto3"
    """One client for all files."""
    BOTO3_PER_FILE = "boto3-per-file"
    """A new client for each file."""
    S3TRANSFER = "s3transfer"
    """boto3's transfer manager, one for all files."""
    AWS_CLI = "aws-cli"
    """``aws s3 cp``, a process for each file; so are the next ones."""
    S5CMD = "s5cmd"
    RCLONE = "rclone"
    JAVA_TRANSFER_MANAGER = "java-transfer-manager"
    """That of AWS SDK for Java 2, in a process for all files."""


class PatternName(StrEnum):
    """The times at which files begin."""

    SERIAL = "serial"
    """One after the other."""
    PARALLEL = "parallel"
    """A thread for each file, all at once."""
    SATURATED = "saturated"
    """A pool with as many threads as files; a thread that is free takes the next file."""
    LIMITED = "limited"
    """A pool with a thread for each vCPU; ``limited:N`` has N threads."""
    STACCATO = "staccato"
    """Random starts, 20 per second on average; ``staccato:N`` has N per second."""


class Destination(StrEnum):
    """The place where the bytes of a file go."""

    TMP = "tmp"
    """A file in /tmp."""
    MEMORY = "memory"
    SHA1 = "sha1"
    """They are hashed and dropped."""
    NULL = "null"
    """They are dropped; each file is read once more, outside the measured time, to check it."""


class Start(StrEnum):
    """The state of the client when the clock starts."""

    COLD = "cold"
    """It does not exist yet."""
    WARM = "warm"
    """It has read an object of 5 bytes."""


class NetworkState(StrEnum):
    """The state of the network's burst when the clock starts."""

    BURST = "burst"
    """As the samples before have left it."""
    SUSTAINED = "sustained"
    """Spent: `DRAIN_BYTES` are read and dropped first."""


FILE_BYTES_MEAN: Final = 1_562_048
"""Of the files in fractos (2017), and about that of generated ones."""


def files_in(size_bytes: int) -> int:
    """Number of files of a generated data set of this size; an estimate for other data sets."""
    return max(1, round(size_bytes / FILE_BYTES_MEAN))


DRAIN_BYTES: Final = 400_000_000
"""More than the burst of an execution environment, some 300 MiB."""

_NUMBERED: Final = re.compile(r"(limited|staccato):([1-9]\d{0,3})")
_LARGEST: Final = {PatternName.LIMITED: 256, PatternName.STACCATO: 1000}
_RANKS: Final = 10_000


@dataclass(frozen=True, slots=True)
class Pattern:
    """A pattern, with its number if it has one."""

    name: PatternName
    number: int | None = None
    """Threads, or starts per second."""

    @classmethod
    def of(cls, text: str) -> Pattern:
        """The pattern that is written ``limited`` or ``limited:4``.

        Raises:
            ValueError: There is none.
        """
        match = _NUMBERED.fullmatch(text)
        if match is None:
            return cls(PatternName(text))
        pattern = cls(PatternName(match[1]), int(match[2]))
        if int(match[2]) > _LARGEST[pattern.name]:
            raise ValueError(text)
        return pattern


@dataclass(frozen=True, slots=True)
class PatternParameter(Parameter):
    """The parameter whose values are patterns."""

    def read(self, place: FieldPlace, raw: object) -> Value:
        """Check one value of the input.

        Raises:
            BadSweep: It is not a pattern.
        """
        try:
            Pattern.of(raw if isinstance(raw, str) else "")
        except ValueError:
            raise BadSweep(place, f" is {shown(raw)}; allowed: {self.choices}") from None
        return str(raw)

    def rank(self, value: Value) -> int:
        """By name, then by number."""
        pattern = Pattern.of(str(value))
        return self.allowed.index(pattern.name) * _RANKS + (pattern.number or 0)  # type: ignore[arg-type] # a tuple

    @property
    def choices(self) -> str:
        """The allowed values as a text."""
        numbered = (f"{name}:1 to {name}:{largest}" for name, largest in _LARGEST.items())
        return ", ".join([*map(str, self.allowed), *numbered])


PROCESS_PER_FILE: Final = (ClientName.AWS_CLI, ClientName.S5CMD, ClientName.RCLONE)
PROGRAMS: Final = (*PROCESS_PER_FILE, ClientName.JAVA_TRANSFER_MANAGER)
"""Clients that are programs."""

PATTERN: Final = PatternParameter(
    "pattern", tuple(PatternName), meaning="pattern in which transfers start ({})"
)
CLIENT: Final = Parameter(
    "client", tuple(ClientName), meaning=f"{{}}; not on Lambda: {', '.join(PROGRAMS)}"
)
DESTINATION: Final = Parameter("destination", tuple(Destination), label="to {}")
START: Final = Parameter(
    "warm", tuple(Start), meaning="cold, or warm (client used before)", option="client-start"
)
NETWORK: Final = Parameter(
    "network", tuple(NetworkState), meaning="burst, or sustained (burst used up)"
)
