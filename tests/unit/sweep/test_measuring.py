"""A meter takes time, CPU time and peak memory."""

import hashlib
import resource
from pathlib import Path

import pytest

from bucketsum_lab.protocol import measuring
from bucketsum_lab.protocol.measuring import Meter, children_cpu_seconds


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
    monkeypatch.setattr(measuring, "_PROC", tmp_path / "nowhere")
    meter = Meter()
    assert meter.peak_was_reset is False
    assert meter.stop(1).max_rss_bytes is None


def test_what_ends_while_cpu_time_is_taken_fails_no_sample(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A thread whose list cannot be read any more, and a process that is gone, are left out."""
    tasks = tmp_path / "self" / "task"
    ended, listing = tasks / "1" / "children", tasks / "2" / "children"
    ended.mkdir(parents=True)
    listing.parent.mkdir()
    listing.write_text("99999999 ")
    monkeypatch.setattr(measuring, "_PROC", tmp_path)
    ended_before = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert children_cpu_seconds() >= ended_before.ru_utime + ended_before.ru_stime
