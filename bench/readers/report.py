"""Summaries of readers as Markdown and JSON."""

from dataclasses import asdict, dataclass
from typing import Any, Final

from bench.readers.environments import Environments
from bench.readers.registry import AS_DEPLOYED, BASELINE, LIMIT, OURS
from bench.readers.samples import ReaderSample, Summary, summaries
from bench.sandbox.calibration import Calibration
from bench.sandbox.profiles import Profile
from bench.tables.table import Columns, SpreadColumn, Table, numbers


@dataclass(frozen=True, slots=True)
class MeasuredReader:
    """All samples of one configuration, and the speeds that the sandbox allowed."""

    profile: Profile
    calibrations: list[Calibration]
    samples: list[ReaderSample]


def markdown(
    measured: list[MeasuredReader], environments: Environments, origin: dict[str, Any]
) -> str:
    """The whole report in Markdown."""
    versions = ", ".join(f"{name} {version}" for name, version in environments.versions.items())
    place = (
        f"Not AWS: a sandbox on one machine, {origin['date']}: {origin['machine']}; {versions}. "
        f"System load before the start: {origin['load']:.1f}."
    )
    lines = [place, *(f"\nMissing: {missing}." for missing in environments.missing.values())]
    for configuration in measured:
        lines += ["", *_section(configuration)]
    return "\n".join(lines)


def overview(measured: list[MeasuredReader]) -> Table:
    """The deployed reader compared with the baseline and the fastest other reader."""
    shown = (profiled for profiled in measured if profiled.profile.name not in _NOT_IN_OVERVIEW)
    return Table("readers", _OVERVIEW, tuple(map(_overview_of, shown)))


def _overview_of(measured: MeasuredReader) -> tuple[Any, ...]:
    by_reader = {row.reader: row for row in summaries(measured.samples, measured.profile)}
    ours, base = by_reader[AS_DEPLOYED], by_reader[BASELINE]
    others = [
        (row.mb_per_s.median, row.reader)
        for row in by_reader.values()
        if row.mb_per_s and row.reader not in {BASELINE, LIMIT, *OURS}
    ]
    speed, name = max(others, default=(None, ""))
    other = f"{speed:.1f} ({name})" if speed else None
    title = measured.profile.title.replace(" of memory", "").replace("object of ", "")
    return title, base.mb_per_s, other, ours.mb_per_s, ours.ratio, ours.cpu_ratio


def _section(measured: MeasuredReader) -> list[str]:
    rounds = max(sample.round for sample in measured.samples) + 1
    title = f"{measured.profile.title} ({rounds} round{'s' if rounds > 1 else ''})"
    rows = (
        (_reader(row), row.mb_per_s, row.ratio, row.link_share, row.cpu_s_per_gb, row.peak_mb,
         row.gets)
        for row in summaries(measured.samples, measured.profile)
    )  # fmt: skip
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


def _median(title: str, decimals: int) -> SpreadColumn:
    return SpreadColumn(title, lambda spread: f"{spread.median:.{decimals}f}")


_COLUMNS: Final[Columns] = (
    "reader",
    *numbers("MB/s", decimals=1),
    _median("× baseline", 2),
    _median("of the link", 3),
    _median("CPU s/GB", 2),
    *numbers("peak MB", decimals=0),
    "GETs",
)

_NOT_IN_OVERVIEW: Final = frozenset({"3008"})  # like its neighbors

_OVERVIEW: Final[Columns] = (
    "memory, network, object",
    _median("baseline", 1),
    "fastest alternative",
    _median("bucketsum", 1),
    _median("speed ÷ baseline", 2),
    _median("CPU time ÷ baseline", 2),
)


def _reader(row: Summary) -> str:
    failures = ", ".join(f"{count} × {outcome}" for outcome, count in row.failures.items())
    kills = f" ({row.kills} killed)" if row.kills else ""
    return f"{row.reader} (not counted: {failures}{kills})" if failures else row.reader


def as_json(
    measured: list[MeasuredReader], environments: Environments, origin: dict[str, Any]
) -> dict[str, Any]:
    """The report with every sample."""
    return {
        **origin,
        "versions": environments.versions,
        "missing": [asdict(missing) for missing in environments.missing.values()],
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
