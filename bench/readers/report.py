"""Summaries of readers as Markdown and JSON."""

from __future__ import annotations

import os
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final

from bench.readers.samples import summaries
from bench.tables.machine import machine
from bench.tables.table import Column, Table

if TYPE_CHECKING:
    from bench.box.calibration import Calibration
    from bench.box.profiles import Profile
    from bench.readers.rivals import Rivals
    from bench.readers.samples import Sample, Summary
    from bench.tables.spread import Spread


@dataclass(frozen=True, slots=True)
class Measured:
    """All samples of one configuration, and the speeds that the sandbox allowed."""

    profile: Profile
    calibrations: list[Calibration]
    samples: list[Sample]


def origin_of() -> dict[str, Any]:
    """Date, load average of the minute before, and the machine."""
    date = datetime.now(UTC).date().isoformat()
    return {"date": date, "load": os.getloadavg()[0], "machine": machine()}


def markdown(measured: list[Measured], rivals: Rivals, origin: dict[str, Any]) -> str:
    """The whole report."""
    versions = ", ".join(f"{name} {version}" for name, version in rivals.versions.items())
    place = (
        f"Not AWS: a sandbox on one machine, {origin['date']}: {origin['machine']}; {versions}. "
        f"System load before the start: {origin['load']:.1f}."
    )
    lines = [place, *(f"\nMissing: {missing}." for missing in rivals.missing.values())]
    for configuration in measured:
        lines += ["", *_section(configuration)]
    return "\n".join(lines)


def _section(measured: Measured) -> list[str]:
    rounds = max(sample.round for sample in measured.samples) + 1
    title = f"{measured.profile.title} ({rounds} round{'s' if rounds > 1 else ''})"
    rows = (
        (
            _reader(row),
            row.mb_per_s,
            row.ratio,
            row.link_share,
            row.cpu_s_per_gb,
            row.peak_mb,
            row.gets,
        )
        for row in summaries(measured.samples, measured.profile)
    )
    return [
        Table("readers", _COLUMNS, tuple(rows), title).markdown(),
        "",
        f"Speed of curl in the sandbox: {'; '.join(map(str, measured.calibrations))}.",
        *(f"**{warning}**" for warning in warnings(measured.calibrations)),
    ]


def warnings(calibrations: list[Calibration]) -> list[str]:
    """A warning for each calibration that is too slow."""
    return [
        f"The sandbox gave {slow}. Readers near that speed were limited by this machine (other "
        "work on it, or too few cores)."
        for slow in calibrations
        if not slow.good
    ]


def _median(title: str, name: str, decimals: int) -> Column:
    def text(spread: Spread) -> str:
        return f"{spread.median:.{decimals}f}"

    return Column(title, name, text)


_COLUMNS: Final = (
    Column("reader", "reader"),
    Column("MB/s", "mb_per_s", lambda spread: spread.text(1)),
    _median("× baseline", "ratio", 2),
    _median("of the link", "link_share", 3),
    _median("CPU s/GB", "cpu_s_per_gb", 2),
    Column("peak MB", "peak_mb", "{:.0f}".format),
    Column("GETs", "gets"),
)


def _reader(row: Summary) -> str:
    failures = ", ".join(f"{count} × {outcome}" for outcome, count in row.failures.items())
    kills = f" ({row.kills} killed)" if row.kills else ""
    return f"{row.reader} (not counted: {failures}{kills})" if failures else row.reader


def as_json(measured: list[Measured], rivals: Rivals, origin: dict[str, Any]) -> dict[str, Any]:
    """The report with every sample."""
    return {
        **origin,
        "versions": rivals.versions,
        "missing": [asdict(missing) for missing in rivals.missing.values()],
        "profiles": [
            {
                **asdict(configuration),
                "warnings": warnings(configuration.calibrations),
                "summaries": [
                    asdict(summary)
                    for summary in summaries(configuration.samples, configuration.profile)
                ],
            }
            for configuration in measured
        ],
    }
