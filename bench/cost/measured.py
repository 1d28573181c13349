"""Measurements in `bench/measured`: speeds, small objects, cold starts."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import starmap
from pathlib import Path
from typing import Any, Final

from bench.readers.registry import AS_DEPLOYED, BASELINE

FOLDER: Final = Path(__file__).parents[1] / "measured"
"""Measurements on the machine of docs/measurements.md."""

_FILES: Final = {"cold starts": "cold_start", "small objects": "function", "readers": "readers"}
"""Measurements → the name of their file."""

SMALL_BYTES: Final = 1_562_048
"""The average object of `python -m bench function`."""

_DEPLOYED: Final = re.compile(r"hasher, batches of (\d+)")
"""Name of the deployed hasher in the JSON of `python -m bench function`."""


@dataclass(frozen=True, slots=True)
class Speed:
    """Median speed of one reader in one Lambda-like configuration, and its number of GETs."""

    memory_mb: int
    link: str
    object_bytes: int
    reader: str
    mb_per_s: float
    gets: int


@dataclass(frozen=True, slots=True)
class MeasuredHandling:
    """All measurements of the cost tables.

    Attributes:
        origins: Place and date of each part.
        speeds: Of the deployed reader and the baseline in each configuration.
        smalls: Seconds per small object, by memory in MB and batch size.
        starts: Milliseconds of cold starts, by name.
    """

    origins: tuple[str, ...]
    speeds: tuple[Speed, ...]
    smalls: dict[tuple[int, int], float]
    starts: dict[str, float]

    def deployed(self) -> dict[int, float]:
        """MB/s of the deployed reader by memory; the lowest of several networks."""
        lowest: dict[int, float] = {}
        for speed in self.speeds:
            if speed.reader == AS_DEPLOYED:
                known = lowest.get(speed.memory_mb, speed.mb_per_s)
                lowest[speed.memory_mb] = min(speed.mb_per_s, known)
        return lowest


def measured_in(folder: Path = FOLDER) -> MeasuredHandling:
    """The measurements that `bench readers`, `function` and `cold-start` wrote to *folder*."""
    documents: dict[str, dict[str, Any]] = {
        measured: json.loads((folder / f"{name}.json").read_text("utf-8"))
        for measured, name in _FILES.items()
    }
    cold_start, function, readers = documents.values()
    return MeasuredHandling(
        tuple(starmap(_origin, documents.items())),
        tuple(speed for profile in readers["profiles"] for speed in _speeds(profile)),
        {
            (shape["memory_mb"], int(match[1])): 1 / variant["objects_per_s"]
            for shape in function["shapes"]
            for variant in shape["variants"]
            if (match := _DEPLOYED.fullmatch(variant["variant"]))
        },
        {start["name"]: start["wall_ms"] for start in cold_start["starts"]},
    )


def _origin(measured: str, document: dict[str, Any]) -> str:
    """Machine and date of a file's measurements, in one line."""
    parts = [f"{measured}: not AWS, but one machine", document["machine"], document.get("date")]
    if any(profile["warnings"] for profile in document.get("profiles", ())):
        parts.append("too busy or too small for some of the measurements")
    return ", ".join(filter(None, parts))


def _speeds(measured: dict[str, Any]) -> Iterator[Speed]:
    """Yield the deployed reader's speed, then the baseline's; skip a reader without a speed."""
    profile = measured["profile"]
    memory_mb, object_bytes = profile["memory_mb"], profile["object_bytes"]
    link = f"{profile['link_mbit_per_s']:,}{' with a burst' if profile['burst_bytes'] else ''}"
    summaries = {summary["reader"]: summary for summary in measured["summaries"]}
    for reader in (AS_DEPLOYED, BASELINE):
        summary = summaries.get(reader)
        if summary and (speed := summary["mb_per_s"]):
            gets = summary["gets"]
            yield Speed(memory_mb, link, object_bytes, reader, speed["median"], gets)
