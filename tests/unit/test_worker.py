"""The control group of a local worker, on a simulated file system."""

import json
import os
import signal
import site
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from bucketsum_cli.machine import cgroups, worker
from bucketsum_cli.machine.worker import Cgroup, lambda_environment, quota_us


@pytest.fixture(params=["v1", "v2"])
def roots(request: pytest.FixtureRequest, tmp_path: Path) -> dict[str, str]:
    """Where control groups would be: two places in version 1 of the interface, one in 2."""
    names = {"v1": ("cpu", "memory"), "v2": ("unified", "unified")}[request.param]
    for name in names:
        (tmp_path / name).mkdir(exist_ok=True)
    return dict(zip(("cpu", "memory"), (str(tmp_path / name) for name in names), strict=True))


@pytest.mark.parametrize(
    ("memory_mb", "microseconds"), [(128, 1447), (512, 5788), (1769, 20_000), (3538, 40_000)]
)
def test_quota_is_the_share_of_lambda(memory_mb: int, microseconds: int) -> None:
    """1,769 MB is one vCPU; less is less in proportion, in periods of 20 ms."""
    assert quota_us(memory_mb) == microseconds


def test_a_control_group_limits_memory_and_cpu(roots: dict[str, str]) -> None:
    """The kernel is told the function's memory, its share, and the process that they are for."""
    group = Cgroup(roots, "one", 512)

    group.limit_memory(4711)
    group.limit_cpu(4711)

    written = {
        path.name: path.read_text()
        for root in roots.values()
        for path in Path(root, "one").iterdir()
    }
    if roots["cpu"] == roots["memory"]:
        assert written == {
            "memory.max": str(512 * 1024 * 1024),
            "cpu.max": "5788 20000",
            "cgroup.procs": "4711",
        }
    else:
        assert written == {
            "memory.limit_in_bytes": str(512 * 1024 * 1024),
            "cpu.cfs_period_us": "20000",
            "cpu.cfs_quota_us": "5788",
            "cgroup.procs": "4711",
        }


def test_groups_of_living_processes_stay(roots: dict[str, str]) -> None:
    """Only empty control groups can be given back; a folder that is in use is left alone."""
    Path(roots["cpu"], "empty").mkdir()
    Path(roots["cpu"], "in-use").mkdir()
    Path(roots["cpu"], "in-use", "held").touch()

    worker.remove_empty_cgroups(roots)

    assert [path.name for path in Path(roots["cpu"]).iterdir()] == ["in-use"]


def test_a_group_whose_process_has_not_entered_yet_stays(roots: dict[str, str]) -> None:
    """While a process of the group's name lives the group is its own, empty or not."""
    with subprocess.Popen([sys.executable, "-c", ""]) as ended:
        pass
    for pid in (os.getpid(), ended.pid):
        Path(roots["memory"], str(pid)).mkdir()

    worker.remove_empty_cgroups(roots)

    assert [path.name for path in Path(roots["memory"]).iterdir()] == [str(os.getpid())]


def test_variables_of_the_emulator_are_hidden() -> None:
    """A function sees its own variables and Lambda's, not those that set the emulator up."""
    seen = lambda_environment({"DIGESTS_TABLE": "t", "GATEWAY_PORT": "1"}, ["GATEWAY_PORT"])

    assert seen["DIGESTS_TABLE"] == "t"
    assert "GATEWAY_PORT" not in seen
    assert seen["TZ"] == ":UTC"


def prepared(
    folder: Path, script: str, roots: dict[str, str] | None, *, lambda_network: bool = False
) -> list[str]:
    """The worker's arguments: its configuration and the emulator's *script*, both in *folder*."""
    config, program = folder / "worker.json", folder / "script.py"
    config.write_text(
        json.dumps({"cgroup_roots": roots, "lambda_network": lambda_network, "hidden": ["SECRET"]})
    )
    program.write_text(script)
    return [str(config), str(program)]


@pytest.fixture
def environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """Undo the changes of the worker in this process after the test."""
    monkeypatch.setattr(os, "environ", {**os.environ, "AWS_LAMBDA_FUNCTION_MEMORY_SIZE": "512"})
    monkeypatch.setattr(sys, "argv", sys.argv)
    monkeypatch.setattr(sys, "stdout", sys.stdout)


def test_the_cpu_is_limited_when_init_ends(tmp_path: Path, roots: dict[str, str]) -> None:
    """Memory is limited from the start, the CPU from the worker's first line on."""
    script = (
        "import pathlib, sys\n"
        f"quota = pathlib.Path({roots['cpu']!r}).glob('*/cpu.*')\n"
        "print(len(list(quota)), file=sys.stderr)\n"
        "sys.stdout.write('ready\\n'); sys.stdout.flush()\n"
        f"quota = pathlib.Path({roots['cpu']!r}).glob('*/cpu.*')\n"
        "print(len(list(quota)), file=sys.stderr)\n"
    )

    done = subprocess.run(
        [sys.executable, "-I", worker.__file__, *prepared(tmp_path, script, roots)],
        env={**os.environ, "AWS_LAMBDA_FUNCTION_MEMORY_SIZE": "512", "SECRET": "x"},
        capture_output=True,
        text=True,
        check=True,
    )

    before, after = map(int, done.stderr.split())
    assert done.stdout == "ready\n"
    assert before == 0
    assert after > 0


@pytest.mark.usefixtures("environment")
def test_script_of_the_emulator_runs_in_the_cgroup(
    tmp_path: Path, roots: dict[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    """The script's output passes through, and its process is in the cgroup."""
    script = "import sys; sys.stdout.write('one '); sys.stdout.write('two')"

    worker.main(*prepared(tmp_path, script, roots))

    assert capsys.readouterr().out == "one two"
    held = Path(roots["cpu"], str(os.getpid()), "cgroup.procs").read_text()
    assert held == str(os.getpid())


@pytest.mark.usefixtures("environment")
def test_without_control_groups_the_worker_runs_all_the_same(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Where the machine has no control groups to give, functions run unlimited."""
    os.environ["SECRET"] = "x"
    script = "import os; print(os.environ['TZ'], 'SECRET' in os.environ)\n"

    worker.main(*prepared(tmp_path, script, None))

    assert capsys.readouterr().out == ":UTC False\n"


@pytest.mark.skipif(not hasattr(os, "splice"), reason="splice is Linux's")
def test_a_function_reaches_s3_alone_through_the_network_of_lambda(tmp_path: Path) -> None:
    """A proxy of the worker's own is between; other services are reached as without it."""
    script = (
        "import os, socket, urllib.parse\n"
        "to = urllib.parse.urlsplit(os.environ['AWS_ENDPOINT_URL_S3'])\n"
        "with socket.create_connection((to.hostname, to.port)) as s3:\n"
        "    print(os.environ['AWS_ENDPOINT_URL'], s3.recv(100).decode())\n"
    )
    with socket.create_server(("127.0.0.1", 0)) as emulator:
        emulator.settimeout(30)
        url = f"http://127.0.0.1:{emulator.getsockname()[1]}"
        program = subprocess.Popen(
            [
                *(sys.executable, "-I", worker.__file__),
                *prepared(tmp_path, script, None, lambda_network=True),
            ],
            env={**os.environ, "AWS_LAMBDA_FUNCTION_MEMORY_SIZE": "512", "AWS_ENDPOINT_URL": url},
            stdout=subprocess.PIPE,
            text=True,
        )
        with program, emulator.accept()[0] as connection:
            connection.sendall(b"through")
            assert program.communicate()[0] == f"{url} through\n"


@pytest.mark.usefixtures("environment")
def test_compiled_packages_for_this_python_are_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Another version's have the same names: the emulator adds both, and only one can be loaded."""
    own = f"python{sys.version_info.major}.{sys.version_info.minor}"
    folders = [tmp_path / "lib" / version / "site-packages" for version in ("python3.99", own)]
    for folder in folders:
        folder.mkdir(parents=True)
        (folder / "compiled.py").write_text(f"version = {folder.parent.name!r}")
    adding = "".join(f"site.addsitedir({str(folder)!r})\n" for folder in folders)
    script = f"import site\n{adding}import compiled; print(compiled.version)"
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.setattr(site, "addsitedir", site.addsitedir)

    worker.main(*prepared(tmp_path, script, None))

    assert capsys.readouterr().out == f"{own}\n"
    sys.modules.pop("compiled", None)


def mounts(tmp_path: Path, *lines: str) -> Path:
    """A made-up /proc/mounts."""
    path = tmp_path / "mounts"
    path.write_text("".join(f"{line}\n" for line in lines))
    return path


def test_version_1_of_the_interface_is_used(tmp_path: Path) -> None:
    """Each controller has a place of its own."""
    for name in ("cpu", "memory"):
        (tmp_path / name).mkdir()
    roots = cgroups.cgroup_roots(
        "ours",
        mounts(
            tmp_path,
            f"cgroup {tmp_path}/cpu cgroup rw,cpu,cpuacct 0 0",
            f"cgroup {tmp_path}/memory cgroup rw,memory 0 0",
        ),
    )

    assert roots == {"cpu": f"{tmp_path}/cpu/ours", "memory": f"{tmp_path}/memory/ours"}


def test_version_2_of_the_interface_is_used(tmp_path: Path) -> None:
    """All controllers share a place, and pass on to children what is written down for them."""
    (tmp_path / "cgroup.subtree_control").write_text("cpu memory pids\n")

    roots = cgroups.cgroup_roots("ours", mounts(tmp_path, f"cgroup2 {tmp_path} cgroup2 rw 0 0"))

    assert roots == {"cpu": f"{tmp_path}/ours", "memory": f"{tmp_path}/ours"}
    assert (tmp_path / "ours" / "cgroup.subtree_control").read_text() == "+cpu +memory"


def test_a_controller_that_is_not_there_means_no_groups(tmp_path: Path) -> None:
    """Half a group would measure something else than Lambda."""
    only_cpu = mounts(
        tmp_path, f"cgroup {tmp_path}/cpu cgroup rw,cpu 0 0", "proc /proc proc rw 0 0"
    )
    assert cgroups.cgroup_roots("ours", only_cpu) is None
    assert cgroups.cgroup_roots("ours", tmp_path / "absent") is None
    not_delegated = mounts(tmp_path, f"cgroup2 {tmp_path}/two cgroup2 rw 0 0")
    assert cgroups.cgroup_roots("ours", not_delegated) is None


def test_what_cannot_be_written_means_no_groups(tmp_path: Path) -> None:
    """A machine that shows its control groups but does not let us in is told from one that does."""
    (tmp_path / "cpu").write_text("a file where a folder should be")
    (tmp_path / "memory").mkdir()
    refused = mounts(
        tmp_path,
        f"cgroup {tmp_path}/cpu cgroup rw,cpu 0 0",
        f"cgroup {tmp_path}/memory cgroup rw,memory 0 0",
    )

    assert cgroups.cgroup_roots("ours", refused) is None


def test_what_is_left_in_a_group_ends_with_it(tmp_path: Path) -> None:
    """A worker that outlived the emulator does not keep its group, nor its group it."""
    group = tmp_path / "groups" / "group"
    group.mkdir(parents=True)
    waiting = [sys.executable, "-c", "import sys; sys.stdin.read()"]
    with subprocess.Popen(waiting, stdin=subprocess.PIPE) as left:
        (group / "cgroup.procs").write_text(f"{left.pid}\n0\n")

        cgroups.remove_roots({"cpu": str(tmp_path / "groups"), "memory": str(tmp_path / "groups")})

        assert left.wait(timeout=60) == -signal.SIGKILL


def test_groups_are_given_back(tmp_path: Path) -> None:
    """After the last worker nothing of ours is left in the control group file system."""
    roots = {"cpu": str(tmp_path / "cpu"), "memory": str(tmp_path / "memory")}
    for root in roots.values():
        Path(root, "group").mkdir(parents=True)

    cgroups.remove_roots(roots)

    assert list(tmp_path.iterdir()) == []
