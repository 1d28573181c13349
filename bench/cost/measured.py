"""Measurements from the JSON of other benchmarks: speeds, cold starts, small objects."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, replace
from math import ceil
from typing import TYPE_CHECKING, Any, Final

from bench.readers.registry import AS_DEPLOYED, BASELINE
from bucketsum.s3.read_plan import ReadPolicy
from bucketsum_cli.errors import CannotDoError

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

PART_BYTES: Final = 8 * 1024 * 1024
"""Assumed part size of readers that use ranges."""

OURS: Final = "bucketsum"
"""Prefix of the names of bucketsum's readers."""

_CHUNK_BYTES: Final = 1024 * 1024
"""The template's; the rule for streams does not depend on it."""

SMALL_BYTES: Final = 1_562_048
"""The average object of `python -m bench function`."""

_DEPLOYED: Final = re.compile(r"hasher, batches of (\d+)")
"""Name of the deployed hasher in the JSON of `python -m bench function`."""

_KINDS: Final = frozenset({"profiles", "shapes", "starts"})


@dataclass(frozen=True, slots=True)
class Speed:
    """Speed of one reader with one object in one Lambda-like configuration.

    Attributes:
        memory_mb: The function's memory.
        link_mbit_per_s: Its network.
        burst: Whether the network had a burst.
        object_bytes: Size of the object.
        reader: Name of the reader.
        mb_per_s: Median speed, from the request to the digest.
        gets: Number of S3 requests.
    """

    memory_mb: int
    link_mbit_per_s: int
    burst: bool
    object_bytes: int
    reader: str
    mb_per_s: float
    gets: int = 1

    @property
    def configuration(self) -> tuple[object, ...]:
        """Memory, network and object, in which speeds are compared."""
        return self.memory_mb, self.link_mbit_per_s, self.burst, self.object_bytes


@dataclass(frozen=True, slots=True)
class Small:
    """Duration of the whole function with small objects.

    Attributes:
        memory_mb: The function's memory.
        object_bytes: Size of each object.
        batch_size: Messages per invocation.
        seconds_per_object: An invocation's duration divided by its objects.
    """

    memory_mb: int
    object_bytes: int
    batch_size: int
    seconds_per_object: float


@dataclass(frozen=True, slots=True)
class ColdStart:
    """Start of an execution environment, before its first event.

    Attributes:
        name: The function.
        seconds: Wall time.
    """

    name: str
    seconds: float


@dataclass(frozen=True, slots=True)
class Measured:
    """All measurements.

    Attributes:
        origins: Place and date of each part.
        speeds: Speeds of readers.
        smalls: Small objects; tables assume a time for those that are missing.
        cold_starts: Cold starts of functions.
    """

    origins: tuple[str, ...] = ()
    speeds: tuple[Speed, ...] = ()
    smalls: tuple[Small, ...] = ()
    cold_starts: tuple[ColdStart, ...] = ()

    def ours(self) -> tuple[Speed, ...]:
        """Bucketsum's reader per configuration: as deployed, else its fastest, else any fastest."""
        ours = [speed for speed in self.speeds if speed.reader == AS_DEPLOYED] or [
            speed for speed in self.speeds if speed.reader.startswith(OURS)
        ]
        rivals = [speed for speed in self.speeds if not speed.reader.startswith("baseline")]
        best: dict[tuple[object, ...], Speed] = {}
        for speed in ours or rivals:
            known = best.setdefault(speed.configuration, speed)
            if speed.mb_per_s > known.mb_per_s:
                best[speed.configuration] = speed
        return tuple(best.values())

    def baseline(self, speed: Speed) -> Speed | None:
        """The baseline in the configuration of *speed*."""
        baselines = (other for other in self.speeds if other.reader == BASELINE)
        same = (other for other in baselines if other.configuration == speed.configuration)
        return next(same, None)

    def only(self, reader: str) -> Measured:
        """Only the baseline and the readers whose names contain *reader*.

        Raises:
            CannotDoError: No name does; the text lists the names.
        """
        names = dict.fromkeys(speed.reader for speed in self.speeds)
        if not any(reader in name for name in names):
            listed = ", ".join(map(repr, names))
            raise CannotDoError(f"no reader's name contains {reader!r}; measured are {listed}")
        kept = [
            speed for speed in self.speeds if reader in speed.reader or speed.reader == BASELINE
        ]
        return replace(self, speeds=tuple(kept))


def measured_in(files: Iterable[Path]) -> Measured:
    """All measurements of JSON files of `bench readers`, `bench function` and `bench cold-start`.

    The kind of a file shows in its keys: ``profiles``, ``shapes`` or ``starts``.

    Raises:
        CannotDoError: A file cannot be read or is of no known kind; the text says what is missing.
    """
    parts = [_read(file) for file in files]
    return Measured(
        tuple(origin for part in parts for origin in part.origins),
        tuple(speed for part in parts for speed in part.speeds),
        tuple(small for part in parts for small in part.smalls),
        tuple(start for part in parts for start in part.cold_starts),
    )


def _read(file: Path) -> Measured:
    try:
        document: Any = json.loads(file.read_text("utf-8"))
    except (OSError, UnicodeDecodeError, json.JSONDecodeError) as error:
        raise CannotDoError(f"{file} cannot be read as JSON: {error}") from error
    if not isinstance(document, dict) or not _KINDS & document.keys():
        raise CannotDoError(
            f"{file} has none of `profiles`, `shapes` and `starts`; make it with `python -m bench "
            "readers --json FILE`, `python -m bench function --json` or `python -m "
            "bench cold-start --json`"
        )
    try:
        starts = (
            ColdStart(start["name"], start["wall_ms"] / 1000)
            for start in document.get("starts", ())
        )
        return Measured(
            (_origin(document),),
            tuple(_speeds(document.get("profiles", ()))),
            tuple(_smalls(document.get("shapes", ()))),
            tuple(starts),
        )
    except (KeyError, TypeError, ZeroDivisionError) as error:
        raise CannotDoError(f"{file} is not as expected: {error!r}") from error


def _origin(document: dict[str, Any]) -> str:
    """Machine and date of a file's measurements, in one line."""
    parts = [
        "not AWS: measured on one machine",
        document.get("machine", ""),
        document.get("date", ""),
    ]
    if any(profile.get("warnings") for profile in document.get("profiles", ())):
        parts.append("too busy or too small for some of the measurements")
    return ", ".join(filter(None, parts))


def _speeds(profiles: Iterable[dict[str, Any]]) -> Iterable[Speed]:
    for measured in profiles:
        profile = measured["profile"]
        for summary in measured["summaries"]:
            if summary["mb_per_s"] is None:  # every sample failed
                continue
            yield Speed(
                memory_mb=profile["memory_mb"],
                link_mbit_per_s=profile["link_mbit_per_s"],
                burst=bool(profile["burst_bytes"]),
                object_bytes=profile["object_bytes"],
                reader=summary["reader"],
                mb_per_s=summary["mb_per_s"]["median"],
                gets=_gets(summary["reader"], profile["memory_mb"], profile["object_bytes"]),
            )


def _smalls(shapes: Iterable[dict[str, Any]]) -> Iterable[Small]:
    for shape in shapes:
        for variant in shape["variants"]:
            if match := _DEPLOYED.fullmatch(variant["variant"]):
                yield Small(
                    shape["memory_mb"], SMALL_BYTES, int(match[1]), 1 / variant["objects_per_s"]
                )


def _gets(reader: str, memory_mb: int, object_bytes: int) -> int:
    """S3 requests of a reader: the deployed rule's, one per part with ranges, else one."""
    if reader == AS_DEPLOYED:
        policy = ReadPolicy(None, _CHUNK_BYTES, memory_mb)
        return policy.plan_for(object_bytes).requests(object_bytes)
    return ceil(object_bytes / PART_BYTES) if "range" in reader else 1
