"""Formats of a sweep's numbers and settings, equal in tables, plots and legends."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final

from bucketsum.measure import BYTES_PER_MB
from bucketsum.settings import AUTO_STREAMS
from bucketsum_cli.terminal import output

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from bucketsum_lab.protocol.parameters import Setting

MISSING: Final = "–"
"""Stands for a value that was not measured."""

_SINGLE_STREAM: Final = 1
_DEFAULT_STREAMS: Final = ({_SINGLE_STREAM}, {AUTO_STREAMS})
_BYTES_PER_KIB: Final = 1024
_BYTES_PER_MIB: Final = 1024 * _BYTES_PER_KIB
_BYTES_PER_KB: Final = 1000


def chunk_text(chunk_bytes: int) -> str:
    """A chunk size in the largest exact unit: ``1 MiB``, ``20 MB``, ``70,001 B``."""
    for unit_bytes, unit in (
        (_BYTES_PER_MIB, "MiB"),
        (BYTES_PER_MB, "MB"),
        (_BYTES_PER_KIB, "KiB"),
        (_BYTES_PER_KB, "kB"),
    ):
        if chunk_bytes % unit_bytes == 0:
            return f"{chunk_bytes // unit_bytes:,} {unit}"
    return f"{chunk_bytes:,} B"


def memory_text(memory_mb: int) -> str:
    """A function's memory as Lambda's settings show it."""
    return f"{memory_mb} MB"


def used_text(size_bytes: int | None) -> str:
    """Peak memory, in MB of 10⁶ bytes."""
    return MISSING if size_bytes is None else f"{size_bytes / BYTES_PER_MB:.0f} MB"


def seconds_text(seconds: float | None) -> str:
    """Seconds with three decimals below 10, else two."""
    if seconds is None:
        return MISSING
    return f"{seconds:.3f}" if seconds < 10 else f"{seconds:.2f}"  # noqa: PLR2004 - as it says


def speed_text(mb_per_s: float | None) -> str:
    """MB/s with one decimal."""
    return output.speed_text(mb_per_s) or MISSING


def usd_text(usd: float | None) -> str:
    """US dollars with three significant digits, without an exponent."""
    if usd is None:
        return MISSING
    if usd == 0:
        return "0"
    digits = 2
    while abs(usd) * 10.0 ** (digits - 2) < 1:
        digits += 1
    return f"{usd:.{digits}f}"


def percent_text(change: float | None) -> str:
    """A change such as ``+12.3 %``."""
    return MISSING if change is None else f"{change * 100:+.1f} %"


def prices_text(region: str | None, date: str, priced_as: str | None) -> str:
    """Date of the prices; if those of *region* are not known, also the Region used instead."""
    if priced_as is None:
        return f"prices of {date}"
    return f"prices of {priced_as} of {date}, as those of {region} are not known"


def duration_text(seconds: float) -> str:
    """A duration in its two largest units: ``1 min 20 s``, ``2 h 5 min``."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours} h {minutes} min"
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"


def count_text(number: int, noun: str) -> str:
    """A number with its noun: ``1 cell``, ``2 cells``."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def size_texts(sizes_bytes: Iterable[int]) -> Mapping[int, str]:
    """A text for each size; sizes that would look alike are given in bytes."""
    texts = {size: output.size_text(size) for size in set(sizes_bytes)}
    uses = Counter(texts.values())
    return {size: f"{size:,} B" if uses[text] > 1 else text for size, text in texts.items()}


def has_notable_streams(settings: Iterable[Setting]) -> bool:
    """Whether labels need streams: not if all settings have 1, or all have ``auto``."""
    return {setting.streams for setting in settings} not in _DEFAULT_STREAMS


def streams_text(streams: int | str) -> str:
    """Connections per object: ``1 stream``, ``4 streams``, ``auto streams``."""
    return "1 stream" if streams == _SINGLE_STREAM else f"{streams} streams"


def chunk_has_effect(setting: Setting) -> bool:
    """Whether the chunk size matters: libcurl and the rule of ``auto`` choose sizes themselves."""
    return isinstance(setting.streams, int) and setting.streams > _SINGLE_STREAM


class SettingLabels:
    """Labels that tell the settings of one run apart; parameters that do not vary are left out."""

    def __init__(self, settings: Iterable[Setting], *, has_chunks: bool = True) -> None:
        """Take all settings of the run, and whether their chunk sizes are worth a text."""
        self._has_streams = has_notable_streams(settings)
        self._has_chunks = has_chunks

    def heading(self, setting: Setting) -> str:
        """The baseline's heading and the further fields: ``128 MB Memory / 1 MB Chunk Size``."""
        return " / ".join(self._parts(setting, "{} Memory", "{} Chunk Size"))

    def short(self, setting: Setting) -> str:
        """``128 MB / 1 MB / stream / isal``."""
        return " / ".join(self._parts(setting))

    def effective(self, setting: Setting) -> str:
        """`short`, without a chunk size that has no effect."""
        return " / ".join(self._parts(setting, chunk="{}" if chunk_has_effect(setting) else ""))

    def sentence(self, setting: Setting) -> str:
        """``512 MB memory, 1 MiB chunks, 4 streams``."""
        return ", ".join(self._parts(setting, "{} memory", "{} chunks"))

    def _parts(self, setting: Setting, memory: str = "{}", chunk: str = "{}") -> Iterator[str]:
        """The label's parts; *memory* and *chunk* are the forms of the first two."""
        yield memory.format(memory_text(setting.memory_mb))
        if self._has_chunks and chunk:
            yield chunk.format(chunk_text(setting.chunk_bytes))
        if self._has_streams:
            yield streams_text(setting.streams)
        for parameter, value in setting.variant:
            yield parameter.label.format(value)
