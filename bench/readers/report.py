"""Summaries → Markdown for people and documents, JSON for machines."""

from __future__ import annotations

import os
import platform
import subprocess
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from bench.box.requirements import tool
from bench.readers.registry import BASELINE
from bench.readers.summary import summaries

if TYPE_CHECKING:
    from bench.box.calibration import Calibration
    from bench.box.profiles import Profile
    from bench.readers.rivals import Peers
    from bench.readers.samples import Sample
    from bench.readers.summary import Spread, Summary

BEGIN: Final = "<!-- bench readers -->"
END: Final = "<!-- /bench readers -->"

_HEADINGS: Final = ("reader", "MB/s", "× baseline", "of the link", "CPU s/GB", "peak MB")


@dataclass(frozen=True, slots=True)
class Measured:
    """All that was measured in one shape.

    Attributes:
        profile: The shape.
        calibrations: What the box allowed.
        samples: Every reading.
    """

    profile: Profile
    calibrations: list[Calibration]
    samples: list[Sample]

    def summaries(self) -> list[Summary]:
        """Summaries by reader, compared with the baseline."""
        return summaries(self.samples, self.profile, BASELINE)


@dataclass(frozen=True, slots=True)
class Occasion:
    """When it was measured, and how busy the machine was.

    Attributes:
        date: ISO 8601.
        load: Processes that wanted a core in the minute before the first box, on average.
    """

    date: str
    load: float

    @classmethod
    def now(cls) -> Occasion:
        """To be taken before anything is measured."""
        return cls(datetime.now(UTC).date().isoformat(), os.getloadavg()[0])


def machine() -> dict[str, str]:
    """What a number depends on and a reader of it wants to know."""
    nginx = tool("nginx")
    told = nginx and subprocess.run(  # noqa: S603 - found by ourselves
        [nginx, "-v"], capture_output=True, text=True, check=False
    )
    return {
        "processor": _processor(),
        "cores": str(os.cpu_count()),
        "kernel": f"{platform.system()} {platform.release()}",
        "server": told.stderr.strip().rpartition(" ")[2] if told else "",
    }


def _processor(cpuinfo: Path = Path("/proc/cpuinfo")) -> str:
    lines = cpuinfo.read_text().splitlines()
    named = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return named[0] if named else platform.machine()


def markdown(measured: list[Measured], peers: Peers, occasion: Occasion) -> str:
    """The whole report."""
    about = machine()
    versions = ", ".join(f"{name} {version}" for name, version in peers.versions.items())
    machine_line = (
        f"Not AWS: a sandbox on one machine, {occasion.date}: {about['processor']}, "
        f"{about['cores']} cores, {about['kernel']}, {about['server']}; {versions}. "
        f"System load before the start: {occasion.load:.1f}."
    )
    lines = [machine_line]
    lines += [f"\nMissing: {one}." for one in peers.missing.values()]
    for one in measured:
        lines += ["", *_section(one)]
    return "\n".join(lines)


def _section(one: Measured) -> list[str]:
    rounds = max(sample.round for sample in one.samples) + 1
    calibrations = "; ".join(map(str, one.calibrations))
    return [
        f"**{one.profile.title}** ({rounds} round{'s' if rounds > 1 else ''})",
        "",
        *_table(one.summaries()),
        "",
        f"Speed of curl in the sandbox: {calibrations}.",
        *(f"**{warning}**" for warning in warnings(one.calibrations)),
    ]


def warnings(calibrations: list[Calibration]) -> list[str]:
    """What is wrong with the box, where something is."""
    return [
        f"The sandbox gave {bad}. Readers near that speed were limited by this machine (other work "
        "on it, or too few cores)."
        for bad in calibrations
        if not bad.good
    ]


def _table(rows: list[Summary]) -> list[str]:
    return [
        f"| {' | '.join(_HEADINGS)} |",
        f"|---|{'---:|' * (len(_HEADINGS) - 1)}",
        *(f"| {' | '.join(_cells(row))} |" for row in rows),
    ]


def _cells(row: Summary) -> list[str]:
    failures = ", ".join(f"{count} × {outcome}" for outcome, count in row.failures.items())
    kills = f" ({row.kills} killed)" if row.kills else ""
    reader = row.reader.replace("|", "\\|")
    return [
        f"{reader} (not counted: {failures}{kills})" if failures else reader,
        _spread(row.mb_per_s, 1),
        _median(row.ratio, 2),
        _median(row.link_share, 3),
        _median(row.cpu_s_per_gb, 2),
        f"{row.peak_mb:.0f}" if row.peak_mb else "",
    ]


def _median(spread: Spread | None, digits: int) -> str:
    return "–" if spread is None else f"{spread.median:.{digits}f}"


def _spread(spread: Spread | None, digits: int) -> str:
    if spread is None:
        return "–"
    middle = f"{spread.median:.{digits}f}"
    if spread.low == spread.high:
        return middle
    return f"{middle} ({spread.low:.{digits}f}–{spread.high:.{digits}f})"


def as_json(measured: list[Measured], peers: Peers, occasion: Occasion) -> dict[str, Any]:
    """The same for a machine, every sample included."""
    return {
        **asdict(occasion),
        "machine": machine(),
        "versions": peers.versions,
        "missing": [asdict(one) for one in peers.missing.values()],
        "profiles": [
            {
                "profile": asdict(one.profile),
                "calibrations": [asdict(each) for each in one.calibrations],
                "warnings": warnings(one.calibrations),
                "summaries": [asdict(each) for each in one.summaries()],
                "samples": [asdict(each) for each in one.samples],
            }
            for one in measured
        ],
    }


def written_between(document: str, text: str) -> str:
    """*document* with *text* between the markers.

    Raises:
        ValueError: It does not have each marker once, in order.
    """
    before, begin, rest = document.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not (begin and end) or BEGIN in rest or END in after:
        raise ValueError(f"the document must have {BEGIN} and after it {END}, once each")
    return f"{before}{BEGIN}\n{text}\n{END}{after}"
