"""Labels that tell the settings of one run apart."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from bucketsum.s3.read_plan import AUTO_STREAMS
from bucketsum_cli.tune.formatting import chunk_text, memory_text
from bucketsum_lab.protocol.parameters import Setting

_SINGLE_STREAM: Final = 1
_DEFAULT_STREAMS: Final = ({_SINGLE_STREAM}, {AUTO_STREAMS})


def has_notable_streams(settings: Iterable[Setting]) -> bool:
    """Whether labels need streams: not if all settings have 1, or all have ``auto``."""
    return {setting.streams for setting in settings} not in _DEFAULT_STREAMS


def streams_text(streams: int | str) -> str:
    """Connections per object: ``1 stream``, ``4 streams``, ``auto streams``."""
    return "1 stream" if streams == _SINGLE_STREAM else f"{streams} streams"


class SettingLabels:
    """Labels that tell the settings of one run apart; parameters that do not vary are left out."""

    def __init__(self, settings: Iterable[Setting], *, has_chunks: bool = True) -> None:
        """Take all settings of the run; with *has_chunks*, labels show the chunk size."""
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
        return " / ".join(self._parts(setting, chunk="{}" if setting.chunk_has_effect else ""))

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
        if setting.disk is not None:
            yield f"disk {setting.disk}"
