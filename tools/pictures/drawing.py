"""The frame of every picture: its size, its texts for readers who cannot see it, its colours."""

from typing import Final
from xml.sax.saxutils import escape

WIDTH: Final = 640
"""A phone shows it at 358 of 390 pixels: texts have at least 17 of these units."""

SANS: Final = "system-ui, 'Segoe UI', 'DejaVu Sans', Helvetica, Arial, sans-serif"
MONOSPACE: Final = "ui-monospace, 'DejaVu Sans Mono', Menlo, Consolas, monospace"

_NAMESPACE: Final = "http://www.w3.org/2000/svg"

_COLOURS: Final = {
    "ink": ("#1f2328", "#f0f6fc"),
    "note": ("#59636e", "#9198a1"),
    "panel": ("#f6f8fa", "#212830"),
    "own": ("#0969da", "#4493f8"),
    "own-panel": ("#ddf4ff", "#0c2d4d"),
    "bar": ("#8c959f", "#656c76"),
    "good": ("#116329", "#3fb950"),
    "bad": ("#cf222e", "#ff7b72"),
}
"""Name → its colour on a light and on a dark page."""


def drawing(title: str, description: str, height: int, style: str, *parts: str) -> str:
    """Return the SVG; *style* is CSS, in which ``var(--NAME)`` is a colour of this module."""
    light, dark = (
        "; ".join(f"--{name}: {pair[mode]}" for name, pair in _COLOURS.items()) for mode in (0, 1)
    )
    lines = (
        f'<svg xmlns="{_NAMESPACE}" width="{WIDTH}" viewBox="0 0 {WIDTH} {height}" role="img">',
        f"<title>{escape(title)}</title>",
        f"<desc>{escape(description)}</desc>",
        "<style>",
        f"svg {{ {light} }}",
        f"@media (prefers-color-scheme: dark) {{ svg {{ {dark} }} }}",
        style,
        "</style>",
        *parts,
        "</svg>",
    )
    return "\n".join(lines) + "\n"
