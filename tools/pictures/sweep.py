"""docs/pictures/sweep.svg: the table of a recorded sweep, with a bar for each setting."""

from pathlib import Path
from typing import Final
from xml.sax.saxutils import escape

from bucketsum_cli.terminal.formatting import speed_text, usd_text
from bucketsum_cli.tune.answer import headline
from bucketsum_cli.tune.report.table import columns_of
from bucketsum_cli.tune.results import Results, measured, results_of
from bucketsum_cli.tune.run_files import RunFiles
from bucketsum_lab.protocol.run_records import CellRow, CellStatistics
from tools.pictures.drawing import SANS, WIDTH, drawing

MEASURED: Final = Path(__file__).parents[2] / "bench" / "measured"
RUN: Final = "sweep"
"""Name of the recorded run's file in bench/measured."""

_NOTE: Final = "bar: median MB/s; dots: every run"
_PRICES: Final = "Prices: Lambda alone"
_MARGIN: Final = 8
_TOP: Final = 112
_ROW: Final = 74
_STYLE: Final = f"""\
text {{ font-family: {SANS}; fill: var(--ink); font-size: 18px }}
.title {{ font-size: 22px; font-weight: 600 }} .strong {{ font-weight: 600 }}
.note {{ fill: var(--note) }} rect {{ fill: var(--bar) }} .own {{ fill: var(--own) }}
circle {{ fill: var(--ink); fill-opacity: 0.45 }}"""


def sweep() -> str:
    """Return the picture; every text in it comes from the report."""
    results = results_of(RunFiles(MEASURED), RUN)
    cells = measured(results.cells)
    speeds = [speed for cell, _ in cells for speed in _speeds(results, cell)]
    scale = (WIDTH - 2 * _MARGIN - 10) / max(speeds)
    parts = ((_label(results, *cell), _remarks(results, cell[0])) for cell in cells)
    sentences = (f"{': '.join(filter(None, texts))}." for texts in parts)
    task, answer = headline(results).split(": ", 1)
    return drawing(
        headline(results),
        " ".join((f"{_PRICES}.", *sentences)),
        _TOP + _ROW * len(cells),
        _STYLE,
        f'<text x="{_MARGIN}" y="30" class="title">{escape(task)}</text>',
        f'<text x="{_MARGIN}" y="60" class="title">{escape(answer)}</text>',
        f'<text x="{_MARGIN}" y="90" class="note">{_NOTE}. {_PRICES}</text>',
        *(_row(results, *cell, _TOP + _ROW * number, scale) for number, cell in enumerate(cells)),
    )


def _row(results: Results, cell: CellRow, stats: CellStatistics, top: int, scale: float) -> str:
    own = ' class="own"' if results.is_recommended(cell) else ""
    dots = "".join(
        f'<circle cx="{_MARGIN + speed * scale:.0f}" cy="{top + 42}" r="5"/>'
        for speed in _speeds(results, cell)
    )
    return (
        f'<text x="{_MARGIN}" y="{top + 22}">{escape(_label(results, cell, stats))} '
        f'<tspan class="strong">{escape(_remarks(results, cell))}</tspan></text>\n'
        f'<rect x="{_MARGIN}" y="{top + 32}" width="{stats.mb_per_s * scale:.0f}" height="20" '
        f'rx="3"{own}/>{dots}'
    )


def _label(results: Results, cell: CellRow, stats: CellStatistics) -> str:
    numbers = f"{speed_text(stats.mb_per_s)} MB/s, ${usd_text(stats.usd_per_tb)} per TB"
    return f"{results.labels.effective(cell.setting)}: {numbers}"


def _remarks(results: Results, cell: CellRow) -> str:
    [remarks] = [
        column for column in columns_of(results, in_report=True) if column.name == "remarks"
    ]
    return remarks.text(cell).replace("; ", ", ")


def _speeds(results: Results, cell: CellRow) -> list[float]:
    """MB/s of the warm samples."""
    readings = (sample.warm_reading for sample in results.samples[cell.cell_id])
    return [reading.mb_per_s for reading in readings if reading]
