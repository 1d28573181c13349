"""docs/pictures/cost.svg: US dollars per terabyte as bars on a logarithmic scale."""

import math
from typing import Final
from xml.sax.saxutils import escape

from bench.cost.alternatives import alternatives
from bench.cost.command import per_tb
from bench.cost.measured import MeasuredHandling

from tools.pictures.drawing import SANS, drawing

_DEFAULT_MEMORY_MB: Final = 256
_FROM_USD: Final = 0.01
_TO_USD: Final = 100.0
_BARS: Final = 590
"""Length of the bar of `_TO_USD`."""

_ROW: Final = 68
_TOP: Final = 84
_NAMES: Final = {
    "an EC2 c7g.large in the bucket's Region": "EC2 c7g.large, running for this alone",
    "AWS's fixity solution": "AWS's fixity solution",
    "S3 Batch Operations, compute checksum": "S3 Batch Operations, compute checksum",
    "a laptop, over the internet": "download and sha1sum (egress)",
}
_STYLE: Final = f"""\
text {{ font-family: {SANS}; fill: var(--ink); font-size: 21px }}
.title {{ font-size: 25px; font-weight: 600 }} .usd {{ font-weight: 600 }}
.note {{ fill: var(--note) }} rect {{ fill: var(--bar) }} .own {{ fill: var(--own) }}"""


def chart(measured: MeasuredHandling) -> str:
    """The default setting of bucketsum and each alternative, the cheapest first."""
    [own] = [
        row[5]
        for row in per_tb(measured).rows
        if row[0] == _DEFAULT_MEMORY_MB and str(row[3]).startswith("bucketsum")
    ]
    others = [(_NAMES[row[0]], row[1], "") for row in alternatives().rows]
    bars = [("bucketsum, objects of 100 MB", own, ' class="own"'), *others]
    height = _TOP + _ROW * len(bars)
    bars = sorted(bars, key=lambda bar: float(bar[1]))
    prices = "; ".join(f"{name}: ${usd:.2f}" for name, usd, _ in bars)
    return drawing(
        "US dollars to hash one terabyte in S3, on a logarithmic scale",
        f"{prices}.",
        height,
        _STYLE,
        '<text x="8" y="32" class="title">USD to hash 1 TB in S3</text>',
        '<text x="8" y="62" class="note">logarithmic: a quarter of the width is ten times as much'
        "</text>",
        *(_bar(_TOP + _ROW * number, *bar) for number, bar in enumerate(bars)),
    )


def _bar(y: int, name: str, usd: float, kind: str) -> str:
    length = _BARS * math.log10(usd / _FROM_USD) / math.log10(_TO_USD / _FROM_USD)
    return (
        f'<text x="8" y="{y + 22}">{escape(name)} <tspan class="usd">${usd:.2f}</tspan></text>\n'
        f'<rect x="8" y="{y + 32}" width="{length:.0f}" height="20" rx="3"{kind}/>'
    )
