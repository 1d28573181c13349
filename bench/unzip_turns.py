"""How fast archives are unzipped here, beside the articles' ways: ``python -m bench.unzip``.

Every way runs in a process of its own, on one core except where two are named, in turns, and the
best of the turns counts: what else this machine does can only make a run slower. Archives are in
memory (the page cache) beforehand, as the article's were. MB/s are of wall time; the ratios are
of processor time, which is hardly disturbed by others.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from bench.unzip_archives import archives
from bench.unzip_ways import WAYS
from bucketsum_cli import output

if TYPE_CHECKING:
    from collections.abc import Sequence

TURNS: Final = 3
_TWO_CORES: Final = frozenset(way for way in WAYS if "2 threads" in way)
_OURS: Final = "bucketsum stream"
_AGAINST: Final = ("zipfile.extractall", "zipfile to /dev/null", "zipfile, SHA-1 of all")


@dataclass(frozen=True, slots=True)
class Timing:
    """The best of some runs of one way.

    Attributes:
        seconds: Wall time.
        cpu_seconds: Processor time.
        peak_bytes: Most memory that was resident.
    """

    seconds: float
    cpu_seconds: float
    peak_bytes: int


def once(way: str, archive: Path, scratch: Path) -> Timing:
    """Run *way* once in a process of its own."""
    cores = sorted(os.sched_getaffinity(0))[: 2 if way in _TWO_CORES else 1]
    with tempfile.TemporaryDirectory(dir=scratch) as folder:
        done = subprocess.run(  # noqa: S603 - ourselves
            [sys.executable, "-m", "bench.unzip_ways", way, archive, Path(folder, "out")],
            check=True,
            capture_output=True,
            preexec_fn=lambda: os.sched_setaffinity(0, cores),
        )
    return Timing(**json.loads(done.stdout))


def best(timings: Sequence[Timing]) -> Timing:
    """The least of each."""
    return Timing(
        min(one.seconds for one in timings),
        min(one.cpu_seconds for one in timings),
        min(one.peak_bytes for one in timings),
    )


def measured(archive: Path, scratch: Path) -> dict[str, Timing]:
    """Every way, in turns."""
    archive.read_bytes()
    timings: dict[str, list[Timing]] = {way: [] for way in WAYS}
    for _ in range(TURNS):
        for way, ones in timings.items():
            if way.split()[0] == "unzip" and shutil.which("unzip") is None:
                continue
            ones.append(once(way, archive, scratch))
    return {way: best(ones) for way, ones in timings.items() if ones}


def show(what: str, archive: Path, timings: dict[str, Timing]) -> None:
    """The article's columns, and the ratios."""
    with zipfile.ZipFile(archive) as zf:
        infos = [info for info in zf.infolist() if not info.is_dir()]
    archive_mb = archive.stat().st_size / 1e6
    output_mb = sum(info.file_size for info in infos) / 1e6
    folders = {str(parent) for info in infos for parent in Path(info.filename).parents}
    output.say("")
    output.say(
        f"{what}: {archive_mb:.1f} MB, {output_mb:.1f} MB of output, {len(infos)} files in "
        f"{len(folders)} directories",
        "bold",
    )
    columns = [
        output.Column("way"),
        *(
            output.Column(title, 10, right=True)
            for title in ("MB/s", "out MB/s", "seconds", "CPU s", "files/s", "peak MB")
        ),
        *(output.Column(f"× {way}", 22, right=True) for way in _AGAINST),
    ]
    output.print_table(
        columns,
        (
            [
                way,
                f"{archive_mb / one.seconds:.1f}",
                f"{output_mb / one.seconds:.0f}",
                f"{one.seconds:.3f}",
                f"{one.cpu_seconds:.3f}",
                f"{len(infos) / one.seconds:.0f}",
                f"{one.peak_bytes / 1e6:.0f}",
                *(f"{timings[against].cpu_seconds / one.cpu_seconds:.2f}" for against in _AGAINST),
            ]
            for way, one in timings.items()
        ),
    )


def side_by_side(paths: Sequence[Path], scratch: Path) -> None:
    """The second article: several archives one after the other, or two at a time."""
    output.say("")
    output.say("All of them: one after the other, and two at a time on two cores", "bold")
    cores = sorted(os.sched_getaffinity(0))[:2]
    rows = []
    for way in ("unzip", "unzip to /dev/null", "zipfile.extractall", _OURS):
        if way.startswith("unzip") and shutil.which("unzip") is None:
            continue
        serial = min(_all(way, paths, scratch, 1, cores) for _ in range(TURNS))
        parallel = min(_all(way, paths, scratch, 2, cores) for _ in range(TURNS))
        total = sum(path.stat().st_size for path in paths) / 1e6
        rows.append(
            [way, f"{total / serial:.1f}", f"{total / parallel:.1f}", f"{serial / parallel:.2f}"]
        )
    output.print_table(
        [
            output.Column("way"),
            output.Column("serial MB/s", 14, right=True),
            output.Column("parallel MB/s", 14, right=True),
            output.Column("gain", 8, right=True),
        ],
        rows,
    )


def _all(way: str, paths: Sequence[Path], scratch: Path, at_a_time: int, cores: list[int]) -> float:
    """Wall seconds for all of *paths*."""
    script = (
        "import sys, time; from concurrent.futures import ProcessPoolExecutor as P;"
        "from pathlib import Path; from bench.unzip_ways import WAYS;"
        "way, n, folder, *paths = sys.argv[1:]; t = time.perf_counter();"
        "p = P(int(n)); [f.result() for f in [p.submit(WAYS[way], Path(a), Path(folder, str(i)))"
        " for i, a in enumerate(paths)]]; print(time.perf_counter() - t)"
    )
    with tempfile.TemporaryDirectory(dir=scratch) as folder:
        done = subprocess.run(  # noqa: S603 - ourselves
            [sys.executable, "-c", script, way, str(at_a_time), folder, *map(str, paths)],
            check=True,
            capture_output=True,
            preexec_fn=lambda: os.sched_setaffinity(0, cores),
        )
    return float(done.stdout)


def main() -> None:
    """Make the archives once, then measure all ways on all of them."""
    folder = Path(".bucketsum", "bench-unzip")
    made = archives(folder)
    output.say(f"Python {sys.version.split()[0]}, {os.cpu_count()} cores, best of {TURNS} turns")
    for what, archive in made.items():
        show(what, archive, measured(archive, folder))
    side_by_side(list(made.values()), folder)


if __name__ == "__main__":
    main()
