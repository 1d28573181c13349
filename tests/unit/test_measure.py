"""MB/s are 10⁶ bytes per second."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from bucketsum import measure
from bucketsum.measure import Measurement, Meter


@pytest.mark.parametrize(
    ("size_bytes", "seconds", "mb_per_s"),
    [(5_000_000, 2.0, 2.5), (1_048_576, 1.0, 1.048576), (0, 1.0, 0.0), (500, 0.001, 0.5)],
)
def test_speed_is_millions_of_bytes_per_second(
    size_bytes: int, seconds: float, mb_per_s: float
) -> None:
    """MB is 10⁶ bytes, not 2²⁰."""
    assert Measurement(size_bytes, seconds).mb_per_s == pytest.approx(mb_per_s)


@pytest.mark.parametrize("seconds", [0.0, -0.001])
def test_no_time_is_no_speed(seconds: float) -> None:
    """A clock that did not advance, or went back, gives 0 and no error."""
    assert Measurement(1, seconds).mb_per_s == 0.0


def test_a_meter_takes_the_time_between_its_making_and_its_stop() -> None:
    """Wall time is the clock's, whatever the clock."""
    ticks = iter([10.0, 12.5])
    measurement = Meter(clock=lambda: next(ticks)).stop(5_000_000)
    assert (measurement.seconds, measurement.mb_per_s) == (2.5, 2.0)


def test_a_meter_takes_cpu_time() -> None:
    """Time in which the process did nothing is not in it."""
    meter = Meter()
    hashlib.sha1(bytes(20_000_000), usedforsecurity=False)
    busy = meter.stop(1)
    assert busy.cpu_seconds is not None
    assert busy.cpu_seconds > 0


@pytest.mark.skipif(not Path("/proc/self/clear_refs").exists(), reason="not on Linux")
def test_a_meter_takes_the_peak_of_its_own_time() -> None:
    """Memory released before the measurement does not count; memory held during it does."""
    size_bytes = 200_000_000
    bytes(size_bytes)  # before
    before = Meter()
    idle = before.stop(1).max_rss_bytes
    meter = Meter()
    held = b"x" * size_bytes
    peak = meter.stop(len(held)).max_rss_bytes
    if not meter.peak_was_reset:
        pytest.skip("this system does not let a process reset its peak")
    assert idle is not None
    assert peak is not None
    assert peak - idle > size_bytes * 0.9


def test_a_meter_says_what_it_cannot_take(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Without Linux's /proc there is no peak, and no guess in its place."""
    monkeypatch.setattr(measure, "_PROC", tmp_path / "nowhere")
    meter = Meter()
    assert meter.peak_was_reset is False
    assert meter.stop(1).max_rss_bytes is None
