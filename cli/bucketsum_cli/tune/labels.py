"""How the settings of a run are called: what is usual and the same in all goes without saying."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from bucketsum.settings import AUTO_STREAMS
from bucketsum_cli.tune.formatting import chunk_text, memory_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from bucketsum.sweep.axes import Setting

_ONE_STREAM: Final = 1
_WITHOUT_SAYING: Final = ({_ONE_STREAM}, {AUTO_STREAMS})


def tells_streams(settings: Iterable[Setting]) -> bool:
    """Whether streams are worth a word: not where one reads every object, or always the rule."""
    return {one.streams for one in settings} not in _WITHOUT_SAYING


def streams_text(streams: int | str) -> str:
    """Connections that read one object: ``1 stream``, ``4 streams``, ``auto streams``."""
    return "1 stream" if streams == _ONE_STREAM else f"{streams} streams"


class Naming:
    """Names for settings of one run."""

    def __init__(self, settings: Iterable[Setting]) -> None:
        """Take all that the run has."""
        self._streams = tells_streams(settings)

    def heading(self, setting: Setting) -> str:
        """As the article has it: ``128 MB Memory / 1 MB Chunk Size``, and what else there is."""
        memory, chunk = memory_text(setting.memory_mb), chunk_text(setting.chunk_bytes)
        return " / ".join([f"{memory} Memory", f"{chunk} Chunk Size", *self._more(setting)])

    def short(self, setting: Setting) -> str:
        """``128 MB / 1 MB / stream / isal``."""
        memory, chunk = memory_text(setting.memory_mb), chunk_text(setting.chunk_bytes)
        return " / ".join([memory, chunk, *self._more(setting)])

    def sentence(self, setting: Setting) -> str:
        """``512 MB memory, 1 MiB chunks, 4 streams``."""
        memory, chunk = memory_text(setting.memory_mb), chunk_text(setting.chunk_bytes)
        return ", ".join([f"{memory} memory", f"{chunk} chunks", *self._more(setting)])

    def _more(self, setting: Setting) -> Iterator[str]:
        if self._streams:
            yield streams_text(setting.streams)
        if setting.mode and setting.inflate:
            yield from (setting.mode, setting.inflate)
