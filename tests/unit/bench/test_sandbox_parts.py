"""The parts of a sandbox that need no kernel features."""

import hashlib
import json
import socket
from dataclasses import replace
from pathlib import Path

import pytest
from bench.sandbox import requirements
from bench.sandbox.calibration import plan, rate_in
from bench.sandbox.network import is_abandoned, is_our_link, shaping, wire_bytes_per_s
from bench.sandbox.objects import BUCKET, make_object
from bench.sandbox.profiles import PROFILES, Profile
from bench.sandbox.requirements import missing, refusal
from bench.sandbox.server import listing

from bucketsum.s3.stream_count import CONNECTION_BYTES_PER_S
from bucketsum_cli.machine import cgroups, proxy
from bucketsum_cli.machine.proxy import BURST_BYTES, TokenBucket, limit_rate
from bucketsum_lab.protocol.workload import NETWORK_BYTES_PER_S
from bucketsum_lab.results import network

PLAIN = Profile("plain", 512, 625, 1_000_000_000)
BURSTING = Profile("bursting", 1769, 625, 100_000_000, burst_bytes=BURST_BYTES)


def after(command: list[str], word: str) -> str:
    """The argument after *word* in *command*."""
    return command[command.index(word) + 1]


def test_the_rate_of_the_link_is_that_of_the_payload() -> None:
    """Headers come on top of the named rate: 1,514 bytes on the wire carry 1,448."""
    assert wire_bytes_per_s(1448e6) == 1514e6
    assert after(shaping(PLAIN), "rate") == f"{wire_bytes_per_s(625e6 / 8)}bps"


def test_only_a_bursting_link_has_a_peak() -> None:
    """The burst is the bucket's size; both hold the kernel's largest packets of 64 KiB."""
    assert int(after(shaping(PLAIN), "burst")) > 65536
    assert "peakrate" not in shaping(PLAIN)
    assert int(after(shaping(BURSTING), "burst")) == wire_bytes_per_s(BURST_BYTES)
    assert int(after(shaping(BURSTING), "mtu")) > 65536
    assert "peakrate" in shaping(BURSTING)


@pytest.mark.parametrize(
    ("links", "ours"),
    [
        ([{"ifname": "lo"}, {"ifname": "box0", "linkinfo": {"info_kind": "veth"}}], True),
        ([{"ifname": "eth0", "linkinfo": {"info_kind": "veth"}}], False),
        ([{"ifname": "box0"}], False),
        ([{"ifname": "box0", "linkinfo": {"info_kind": "bridge"}}], False),
        ([], False),
    ],
)
def test_only_the_veth_made_for_the_sandbox_is_shaped(links: list[object], ours: bool) -> None:  # noqa: FBT001 - a parameter
    """A device of another name or kind is never given a rate."""
    assert is_our_link(json.dumps(links)) is ours


def test_only_what_a_dead_process_left_behind_is_abandoned(tmp_path: Path) -> None:
    """A running sandbox, and other namespaces and groups, are left alone."""
    (tmp_path / "42").mkdir()
    ended = ["bucketsum-bench-41-1-server", "bucketsum-bench-41-1"]
    others = ["bucketsum-bench-42-1-client", "bucketsum-bench-42-7", "blue", "bucketsum-x"]
    names = [*ended, *others]
    assert [name for name in names if is_abandoned(name, tmp_path)] == ended


def test_a_refusal_names_all_that_is_missing_and_how_to_get_it() -> None:
    """Root and each tool, with its Debian package, in one message."""
    text = str(refusal(missing(which=lambda _: None, platform="linux", user=1000)))

    for part in ("root", "sudo", "ip:", "tc:", "iproute2", "nginx-light", "curl"):
        assert part in text


def test_a_tool_is_found_outside_of_the_path(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """`tc` and nginx are in sbin folders, which a person's PATH often leaves out."""
    program = tmp_path / "tc"
    program.touch(mode=0o755)
    monkeypatch.setenv("PATH", "/nowhere")
    monkeypatch.setattr(requirements, "SYSTEM_PATH", str(tmp_path))

    assert requirements.tool("tc") == str(program)


@pytest.mark.parametrize(
    ("text", "kills"),
    [
        ("oom_kill_disable 0\nunder_oom 0\noom_kill 2\n", 2),
        ("low 0\nhigh 0\nmax 31\noom 3\noom_kill 1\noom_group_kill 0\n", 1),
        ("oom_kill_disable 0\nunder_oom 0\n", 0),
    ],
)
def test_kills_are_read_from_either_kind_of_control_group(text: str, kills: int) -> None:
    """Version 1 has them in `memory.oom_control`, version 2 in `memory.events`."""
    assert cgroups.kills_in(text) == kills


@pytest.mark.parametrize("size_bytes", [0, 1, 1_000_000, 1_000_001])
def test_objects_have_their_size_and_their_digest(tmp_path: Path, size_bytes: int) -> None:
    """An object is generated once, and again if it is too short; seeds differ."""
    known = make_object(tmp_path, size_bytes)
    path = tmp_path / BUCKET / known.key
    generated = path.stat().st_mtime_ns
    assert path.stat().st_size == size_bytes
    assert known.sha1 == hashlib.sha1(path.read_bytes()).hexdigest()
    assert make_object(tmp_path, size_bytes) == known
    assert path.stat().st_mtime_ns == generated
    path.write_bytes(b"of another size")
    assert make_object(tmp_path, size_bytes) == known
    assert path.stat().st_size == size_bytes
    if size_bytes > 1:
        assert make_object(tmp_path, size_bytes, "other", seed=1).sha1 != known.sha1


def test_the_listing_has_every_object_with_its_size(tmp_path: Path) -> None:
    """Clients look for their key in it before they read."""
    make_object(tmp_path, 10, "a.bin")
    make_object(tmp_path, 20, "folder/b.bin")

    text = listing(tmp_path)

    assert "<Key>a.bin</Key><Size>10</Size>" in text
    assert "<Key>folder/b.bin</Key><Size>20</Size>" in text
    assert "<KeyCount>2</KeyCount>" in text


def test_calibration_asks_for_no_more_than_the_shape_allows() -> None:
    """One connection is held by the slower of link and connection, many by the link alone."""
    steps = {step.connections: step.allowed_bytes_per_s for step in plan(PROFILES[-1])}
    assert steps == {1: 90e6, 6: 375e6}
    assert plan(PLAIN)[0].allowed_bytes_per_s == 625e6 / 8
    assert [step.what for step in plan(BURSTING)][:2] == ["8 in the burst", ""]


def test_rates_are_from_the_first_byte_to_the_last() -> None:
    """Of all connections together: 300 bytes in the second between 0.5 and 1.5."""
    assert rate_in("0.5 1.0 100\n0.7 1.5 200\n") == pytest.approx(300)


def test_the_kernel_paces_a_connection() -> None:
    """The rate is on the client's socket; no program has to keep it."""
    with socket.socket() as connection:
        limit_rate(connection, 90_000_000)
        rate = connection.getsockopt(socket.SOL_SOCKET, 47, 8)
    assert int.from_bytes(rate, "little") == 90_000_000


def test_the_emulated_network_is_that_of_the_models() -> None:
    """The proxy imports nothing, so it states Lambda's facts again."""
    assert proxy.CONNECTION_BYTES_PER_S == CONNECTION_BYTES_PER_S
    assert proxy.LINK_MBIT_PER_S * 1e6 / 8 == NETWORK_BYTES_PER_S
    assert network.BURST_BYTES == BURST_BYTES


def test_the_burst_is_free_and_the_rest_has_the_rate_of_the_link() -> None:
    """300 MB pass without a delay; what an idle link regains is at most that again."""
    link = TokenBucket(100e6)

    assert link.delay(BURST_BYTES, now=0.0) == pytest.approx(0)
    assert link.delay(50_000_000, now=0.0) == pytest.approx(0.5)
    assert link.delay(50_000_000, now=1.0) == pytest.approx(0)
    assert link.delay(BURST_BYTES + 100_000_000, now=1000.0) == pytest.approx(1)


@pytest.mark.parametrize("profile", PROFILES, ids=[profile.name for profile in PROFILES])
def test_no_object_comes_faster_than_the_link(profile: Profile) -> None:
    """A share of the link is at most 1: the burst counts, and what follows it does too."""
    long = replace(profile, object_bytes=10_000_000_000)
    slack_bytes = profile.burst_bytes * 1.1
    assert profile.best_seconds > 0
    assert long.best_seconds >= (long.object_bytes - slack_bytes) / profile.link_bytes_per_s
