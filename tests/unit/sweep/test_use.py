"""use: what /proc and the control group tell, once a second."""

import os
import socket
import time
from pathlib import Path

import pytest

from bucketsum_lab.measure.use import System, UseMeter
from bucketsum_lab.protocol.use import Use


def test_absent_files_tell_nothing(tmp_path: Path) -> None:
    """Without /proc and control groups, everything but the time is None, never 0."""
    with UseMeter(system=System(tmp_path, tmp_path)) as meter:
        pass
    (use,) = meter.curve.uses
    assert use == Use(use.seconds)
    assert meter.curve.quota is None


@pytest.mark.parametrize(
    ("line", "files"),
    [
        (
            "0::/me",
            {"me/cpu.max": "50000 100000", "me/cpu.stat": "nr_throttled 3\nthrottled_usec 7"},
        ),
        (
            "1:cpu:/me",
            {
                "cpu/me/cpu.cfs_quota_us": "10000\n",
                "cpu/me/cpu.cfs_period_us": "20000\n",
                "cpu/me/cpu.stat": "nr_throttled 3\nthrottled_time 7000\n",
            },
        ),
    ],
)
def test_both_versions_of_control_groups_tell_the_quota(
    tmp_path: Path, line: str, files: dict[str, str]
) -> None:
    """Quota and throttled time come from the process's own group, of version 1 or 2."""
    for name, text in {"self/cgroup": line, **files}.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    system = System(tmp_path, tmp_path)
    assert system.quota() == 0.5
    assert system.throttled() == pytest.approx(7e-6)


def test_a_group_without_a_quota_has_no_limit(tmp_path: Path) -> None:
    """The quota `max`, or -1, is none."""
    (tmp_path / "self").mkdir()
    (tmp_path / "self" / "cgroup").write_text("0::/")
    (tmp_path / "cpu.max").write_text("max 100000")
    assert System(tmp_path, tmp_path).quota() is None


def test_the_loopback_device_is_not_counted(tmp_path: Path) -> None:
    """Bytes of the network are those of all devices but `lo`."""
    (tmp_path / "self" / "net").mkdir(parents=True)
    row = "5 0 0 0 0 0 0 0 7 0 0 0 0 0 0 0"
    rows = f"head\nhead\n lo: {row}\n eth0: {row}\n vinternal_1:{row}\n"
    (tmp_path / "self" / "net" / "dev").write_text(rows)
    assert System(tmp_path, tmp_path).devices() == (10, 14)


def test_a_local_s3_is_counted_by_connection() -> None:
    """With S3 at a loopback address, the bytes are those of this process's connections."""
    with (
        socket.create_server(("127.0.0.1", 0)) as server,
        socket.create_connection(server.getsockname()) as client,
        server.accept()[0] as accepted,
        UseMeter("http://127.0.0.1:1") as meter,
    ):
        accepted.sendall(b"x" * 10_000)
        client.recv(10_000, socket.MSG_WAITALL)
    (use,) = meter.curve.uses
    assert use.received_bytes == 10_000


def test_the_busiest_thread_is_measured() -> None:
    """A thread that never pauses is the busiest, with the CPU time of the process."""
    started = time.process_time()
    with UseMeter() as meter:
        while time.process_time() - started < 0.1:
            pass
    busiest = [use.busiest for use in meter.curve.uses if use.busiest is not None]
    if not busiest:
        pytest.skip("the kernel has no schedstat")
    assert sum(busiest) >= 0.05


def test_a_process_of_another_thread_is_measured(tmp_path: Path) -> None:
    """A pool of threads starts programs: each thread has a list of its children."""
    stat = "1 (a) R" + " 0" * 10 + " {} 0 0 0 0"
    for pid, ticks in (("self", 0), ("7", 50)):
        (tmp_path / pid).mkdir()
        (tmp_path / pid / "stat").write_text(stat.format(ticks))
    for thread, children in (("1", ""), ("2", "7 ")):
        listing = tmp_path / "self" / "task" / thread / "children"
        listing.parent.mkdir(parents=True)
        listing.write_text(children)
    with UseMeter(system=System(tmp_path, tmp_path)) as meter:
        (tmp_path / "7" / "stat").write_text(stat.format(150))
    (use,) = meter.curve.uses
    assert use.user == pytest.approx(100 / os.sysconf("SC_CLK_TCK"))
