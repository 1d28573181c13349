"""How long a sweep takes and how much of Step Functions it uses, before it starts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from bucketsum.measure import BYTES_PER_MB
from bucketsum.settings import MEMORY_MB_PER_CPU

if TYPE_CHECKING:
    from collections.abc import Iterable

    from bucketsum.sweep.axes import Setting

HISTORY_EVENTS_MAX: Final = 21_000
"""[A] An execution ends at 25,000 events; the rest is room for retries."""

PAYLOAD_BYTES_MAX: Final = 200_000
"""[A] A state passes on at most 256 KiB."""

# How many history events each part of the state machine writes; a test counts them in its
# definition: tests/template/test_sweep_scale.py.
_EVENTS_ONCE: Final = 35
_EVENTS_PER_OBJECT: Final = 7
_EVENTS_PER_VERSION: Final = 15
_EVENTS_PER_ROUND: Final = 6
_EVENTS_PER_SAMPLE: Final = 12

_PROBE_SECONDS_MAX: Final = 900
"""The prober's time-out."""

_MB_PER_VCPU_SECOND: Final = 300
"""What the article's rows of 128 and 256 MB come to; today's readers need less processor."""

_UNZIP_MB_PER_VCPU_SECOND: Final = {"stream": 150, "tmp": 100, "discard": 140}
"""MB of archive, SHA-1 of all included: docs/archives.md's slower column, and a sixth off."""

_ZLIB_SLOWDOWN: Final = 1.6
"""How much longer zlib takes than ISA-L; docs/archives.md."""

_LINK_MB_PER_S: Final = 78.1
"""[A] 625 Mbit/s per execution environment."""

_SECONDS_ONCE: Final = 20.0
_SECONDS_PER_VERSION: Final = 15.0
_SECONDS_PER_ROUND: Final = 0.5
_WRITE_MB_PER_S: Final = 60


def probe_seconds(setting: Setting, size_bytes: int) -> float:
    """One invocation: the slower of link and processor, or both where one waits for the other."""
    megabytes = size_bytes / BYTES_PER_MB
    link = megabytes / _LINK_MB_PER_S
    processor = megabytes / (_mb_per_vcpu_second(setting) * _vcpus(setting))
    waits = setting.mode in ("tmp", "discard")  # members are read when the archive is there
    return min(link + processor if waits else max(link, processor), _PROBE_SECONDS_MAX)


def _mb_per_vcpu_second(setting: Setting) -> float:
    if setting.mode is None:
        return _MB_PER_VCPU_SECOND
    mb_per_s = _UNZIP_MB_PER_VCPU_SECOND[setting.mode]
    return mb_per_s / _ZLIB_SLOWDOWN if setting.inflate == "zlib" else mb_per_s


def _vcpus(setting: Setting) -> float:
    """Shares of a processor; streaming uses no more than one."""
    vcpus = setting.memory_mb / MEMORY_MB_PER_CPU
    return min(vcpus, 1.0) if setting.mode == "stream" else vcpus


def sweep_seconds(made_bytes: int, versions: int, rounds: Iterable[float]) -> float:
    """Wall time of a sweep whose rounds take *rounds*, one after the other."""
    making = made_bytes / BYTES_PER_MB / _WRITE_MB_PER_S
    publishing = _SECONDS_PER_VERSION * versions
    return _SECONDS_ONCE + making + publishing + sum(one + _SECONDS_PER_ROUND for one in rounds)


def history_events(objects: int, versions: int, rounds: int, samples: int) -> int:
    """Events of an execution in which nothing is retried."""
    return (
        _EVENTS_ONCE
        + _EVENTS_PER_OBJECT * objects
        + _EVENTS_PER_VERSION * versions
        + _EVENTS_PER_ROUND * rounds
        + _EVENTS_PER_SAMPLE * samples
    )
