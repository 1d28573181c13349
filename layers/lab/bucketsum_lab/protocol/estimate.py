"""Estimates before a sweep starts: its duration, and its use of Step Functions."""

from __future__ import annotations

from typing import Final

from bucketsum.measure import BYTES_PER_MB

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

PROBE_SECONDS_MAX: Final = 900
"""The prober's time-out."""

NETWORK_BYTES_PER_S: Final = 78_125_000
"""[A] 625 Mbit/s per execution environment, after a burst."""

_SECONDS_ONCE: Final = 20.0
_SECONDS_PER_VERSION: Final = 15.0
_SECONDS_PER_ROUND: Final = 0.5
_WRITE_MB_PER_S: Final = 60


def read_seconds(size_bytes: int, cpu_mb_per_s: float, *, in_turn: bool = False) -> float:
    """One invocation: the slower of network and CPU, or their sum if they work *in_turn*."""
    network, cpu = size_bytes / NETWORK_BYTES_PER_S, size_bytes / BYTES_PER_MB / cpu_mb_per_s
    return min(network + cpu if in_turn else max(network, cpu), PROBE_SECONDS_MAX)


def generating_seconds(generated_bytes: int) -> float:
    """Duration of generating and sending objects."""
    return generated_bytes / BYTES_PER_MB / _WRITE_MB_PER_S


def other_seconds(versions: int, rounds: int) -> float:
    """Duration of a sweep without generating and probing."""
    return _SECONDS_ONCE + _SECONDS_PER_VERSION * versions + _SECONDS_PER_ROUND * rounds


def history_events(objects: int, versions: int, rounds: int, samples: int) -> int:
    """Events of an execution in which nothing is retried."""
    return (
        _EVENTS_ONCE
        + _EVENTS_PER_OBJECT * objects
        + _EVENTS_PER_VERSION * versions
        + _EVENTS_PER_ROUND * rounds
        + _EVENTS_PER_SAMPLE * samples
    )
