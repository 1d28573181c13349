"""Measurements from other commands' JSON: speeds, cold starts, small objects.

The other commands are not imported: a file may be of another day and of another machine.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from math import ceil
from typing import TYPE_CHECKING, Any, Final

from bench.readers.registry import ARTICLE, AS_DEPLOYED
from bucketsum.s3.read_plan import ReadPolicy
from bucketsum_cli.errors import CannotDoError

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

PART_BYTES: Final = 8 * 1024 * 1024
"""What a reader in ranges is taken to ask for at a time, where its file does not say."""

OURS: Final = "bucketsum"
"""What the names of our readers begin with."""

_CHUNK_BYTES: Final = 1024 * 1024
"""The template's, of which the rule for streams makes no use."""

SMALL_BYTES: Final = 1_562_048
"""The average size of what `python -m bench function` reads, that of the transfers' article."""

_OUR_WAY: Final = re.compile(r"hasher, batches of (\d+)")
"""What `python -m bench function` calls the hasher as it is deployed."""

_KINDS: Final = frozenset({"profiles", "shapes", "starts"})


@dataclass(frozen=True, slots=True)
class Speed:
    """How fast one reader read one object in one of Lambda's shapes.

    Attributes:
        memory_mb: The function's memory.
        link_mbit_per_s: Its network.
        burst: Whether the network was faster at first.
        object_bytes: Size of the object.
        reader: Name of the reader.
        mb_per_s: Median speed, from the request to the digest.
        gets: Requests to S3 that it took.
    """

    memory_mb: int
    link_mbit_per_s: int
    burst: bool
    object_bytes: int
    reader: str
    mb_per_s: float
    gets: int = 1


@dataclass(frozen=True, slots=True)
class Small:
    """How long the whole function took over small objects.

    Attributes:
        memory_mb: Its memory.
        object_bytes: Their size.
        batch_size: Messages per invocation.
        seconds_per_object: An invocation's duration divided by its objects.
    """

    memory_mb: int
    object_bytes: int
    batch_size: int
    seconds_per_object: float


@dataclass(frozen=True, slots=True)
class ColdStart:
    """What an environment does before its first event.

    Attributes:
        name: Of which function.
        seconds: How long that takes.
    """

    name: str
    seconds: float


@dataclass(frozen=True, slots=True)
class Measured:
    """All that is known.

    Attributes:
        origins: Where each part was measured, and when.
        speeds: Of readers.
        smalls: Of small objects; where there is none, an assumption takes its place.
        cold_starts: Of functions.
    """

    origins: tuple[str, ...] = ()
    speeds: tuple[Speed, ...] = ()
    smalls: tuple[Small, ...] = ()
    cold_starts: tuple[ColdStart, ...] = ()

    def ours(self) -> tuple[Speed, ...]:
        """Ours in each shape: as it is deployed, or the fastest; of all others where none is."""
        ours = [one for one in self.speeds if one.reader == AS_DEPLOYED] or [
            one for one in self.speeds if one.reader.startswith(OURS)
        ]
        candidates = ours or [one for one in self.speeds if not one.reader.startswith("article")]
        best: dict[tuple[object, ...], Speed] = {}
        for one in candidates:
            shape = _shape(one)
            if shape not in best or one.mb_per_s > best[shape].mb_per_s:
                best[shape] = one
        return tuple(best.values())

    def articles(self, speed: Speed) -> Speed | None:
        """The article's reader in the shape of *speed*."""
        same = [one for one in self.speeds if _shape(one) == _shape(speed)]
        return next((one for one in same if one.reader == ARTICLE), None)

    def only(self, reader: str) -> Measured:
        """The same with the article's reader and those whose names contain *reader* alone.

        Raises:
            CannotDoError: There is none; the text names those that there are.
        """
        speeds = [one for one in self.speeds if reader in one.reader]
        if not speeds:
            names = ", ".join(dict.fromkeys(repr(one.reader) for one in self.speeds))
            raise CannotDoError(f"no reader's name contains {reader!r}; measured are {names}")
        speeds += [one for one in self.speeds if one.reader == ARTICLE and one not in speeds]
        return Measured(self.origins, tuple(speeds), self.smalls, self.cold_starts)


def _shape(speed: Speed) -> tuple[object, ...]:
    return speed.memory_mb, speed.link_mbit_per_s, speed.burst, speed.object_bytes


def measured_in(files: Iterable[Path]) -> Measured:
    """What the JSON of `bench readers`, `bench function` and `bench cold-start` holds together.

    A file is known by what it has: ``profiles``, ``shapes`` or ``starts``.

    Raises:
        CannotDoError: A file cannot be read, or is none of them; the text says what is missing.
    """
    found = [_read(file) for file in files]
    return Measured(
        tuple(origin for one in found for origin in one.origins),
        tuple(speed for one in found for speed in one.speeds),
        tuple(small for one in found for small in one.smalls),
        tuple(start for one in found for start in one.cold_starts),
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
        return Measured(
            (_origin(document),),
            tuple(_speeds(document.get("profiles", ()))),
            tuple(_smalls(document.get("shapes", ()))),
            tuple(
                ColdStart(one["name"], one["wall_ms"] / 1000) for one in document.get("starts", ())
            ),
        )
    except (KeyError, TypeError, ZeroDivisionError) as error:
        raise CannotDoError(f"{file} is not as expected: {error!r}") from error


def _origin(document: dict[str, Any]) -> str:
    """Where a file's numbers are from, in one line."""
    machine = document.get("machine", {})
    about = machine if isinstance(machine, str) else machine.get("processor", "")
    warned = any(profile.get("warnings") for profile in document.get("profiles", ()))
    return document.get("origin") or ", ".join(
        filter(
            None,
            [
                "not AWS: measured on one machine",
                about,
                document.get("date", ""),
                "which was too busy or too small for some of it" if warned else "",
            ],
        )
    )


def _speeds(profiles: Iterable[dict[str, Any]]) -> Iterable[Speed]:
    for one in profiles:
        profile = one["profile"]
        for summary in one["summaries"]:
            if summary["mb_per_s"] is None:  # every reading failed
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
        for way in shape["ways"]:
            if found := _OUR_WAY.fullmatch(way["way"]):
                yield Small(
                    shape["memory_mb"], SMALL_BYTES, int(found[1]), 1 / way["objects_per_s"]
                )


def _gets(reader: str, memory_mb: int, object_bytes: int) -> int:
    """Requests: by our rule; one; or, in ranges, as many as there are parts of the usual size."""
    if reader == AS_DEPLOYED:
        return (
            ReadPolicy(None, _CHUNK_BYTES, memory_mb).plan_for(object_bytes).requests(object_bytes)
        )
    return ceil(object_bytes / PART_BYTES) if "range" in reader else 1
