"""disk: its speed past the page cache, or the reason why it is not known."""

import errno
import os
from dataclasses import astuple
from pathlib import Path
from typing import Any

import boto3
import pytest

from bucketsum_lab.measure import disk, prober
from bucketsum_lab.protocol.samples import DiskSpeed


def test_a_disk_has_all_speeds_or_a_reason(tmp_path: Path) -> None:
    """A measurement is complete or has a reason, and leaves no file."""
    folder, *speeds, reason = astuple(disk.measure_disk(tmp_path))
    assert folder == str(tmp_path)
    assert all(speeds) if reason is None else speeds == [None] * 4
    assert list(tmp_path.iterdir()) == []


def test_memory_is_no_disk(tmp_path: Path) -> None:
    """A folder in memory is not measured, and the reason says so."""
    device = tmp_path.stat().st_dev
    mounts = tmp_path / "mountinfo"
    number = f"{os.major(device)}:{os.minor(device)}"
    mounts.write_text(f"22 1 {number} / /tmp rw shared:1 - tmpfs tmpfs rw\n")
    assert disk.measure_disk(tmp_path, mounts) == DiskSpeed(
        str(tmp_path), disk_unmeasured="it is in memory (tmpfs)"
    )


def test_a_disk_without_direct_access_is_not_measured(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where O_DIRECT is refused, nothing is measured, the reason is given, and no file stays."""
    make = os.open

    def refuse(path: str, flags: int, *others: Any, **named: Any) -> int:  # noqa: ANN401 - as `os.open`
        if flags & os.O_DIRECT:
            raise OSError(errno.EINVAL, "Invalid argument")
        return make(path, flags, *others, **named)

    monkeypatch.setattr(os, "open", refuse)
    monkeypatch.setattr(disk, "_unmeasurable", lambda *_: None)
    assert disk.measure_disk(tmp_path).disk_unmeasured == "it has no O_DIRECT"
    assert list(tmp_path.iterdir()) == []


def test_the_speed_of_a_disk_has_the_folder_of_the_setting(monkeypatch: pytest.MonkeyPatch) -> None:
    """The prober measures in its own folder on the disk, and names the disk."""
    monkeypatch.setattr(prober, "measure_disk", lambda: DiskSpeed("/disk/process-1", 1.0))
    probe = prober.Prober(boto3.client("s3", region_name="us-east-1"))
    monkeypatch.setattr(probe, "_measured", lambda *_: {"status": "ok"})
    event: Any = {
        "workload": "unzip", "chunk_bytes": 65536, "streams": 1, "disk": "/disk",
        "variant": {"mode": "tmp", "inflate": "zlib"},
    }  # fmt: skip
    assert probe.probe(event, 512)["disk_folder"] == "/disk"


@pytest.mark.parametrize(("mode", "times"), [("tmp", 1), ("stream", 0)])
def test_an_execution_environment_measures_the_disk_that_it_uses_once(
    monkeypatch: pytest.MonkeyPatch, mode: str, times: int
) -> None:
    """The disk is measured after the first probe that uses it, and its time is not billed."""
    speeds = iter([DiskSpeed("/tmp", 1.0, 2.0, 3.0, 4.0)])  # noqa: S108 - a name
    monkeypatch.setattr(prober, "measure_disk", lambda: next(speeds))
    probe = prober.Prober(boto3.client("s3", region_name="us-east-1"))
    monkeypatch.setattr(probe, "_measured", lambda *_: {"status": "ok", "billed_ms": 7})
    event: Any = {
        "workload": "unzip", "chunk_bytes": 65536, "streams": 1,
        "variant": {"mode": mode, "inflate": "zlib"},
    }  # fmt: skip
    answers = [probe.probe(event, 512) for _ in range(2)]
    assert ["disk_reads_per_s" in answer for answer in answers] == [times == 1, False]
    assert {answer["billed_ms"] for answer in answers} == {7}
