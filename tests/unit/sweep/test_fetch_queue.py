"""fetch_queue: every schedule comes to the known results, and no failure hangs or leaves a file."""

import errno
import os
import threading
import time
from collections.abc import Generator
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path

import pytest

from bucketsum.errors import SourceInterrupted
from bucketsum.s3.source import OpenObject
from bucketsum_cli.tune.workloads.fetch import shell
from bucketsum_lab.protocol.page_cache import cached_bytes, disk_bytes
from bucketsum_lab.workloads.fetch import stages
from bucketsum_lab.workloads.fetch.data_set import item_of
from bucketsum_lab.workloads.fetch.model import (
    FOLDER_PROCESSORS,
    ArchiveItem,
    ArchiveWork,
    Bytes,
    ItemFailed,
    Schedule,
)
from bucketsum_lab.workloads.fetch.pipeline import DiskQueue, Stopped, run_pipeline
from bucketsum_lab.workloads.fetch.schedules import ScheduleRun
from bucketsum_lab.workloads.fetch.stages import S3Items
from bucketsum_lab.workloads.unzip.generated_archive import GeneratedArchive

SIZES = (300_000, 330_000, 310_000, 320_000)
CHUNK_BYTES = 50_000
IN_PROCESS = [schedule for schedule in Schedule if schedule is not Schedule.SHELL]
needs_programs = pytest.mark.skipif(
    bool(shell.missing_programs()), reason="GNU parallel or unzip is not installed"
)


@pytest.fixture(scope="module")
def items() -> tuple[ArchiveItem, ...]:
    """Four small archives of different sizes."""
    return tuple(item_of(f"{size}.zip", size) for size in SIZES)


@cache
def content_of(size_bytes: int) -> bytes:
    """The archive's bytes."""
    return b"".join(GeneratedArchive(size_bytes).chunks())


class FakeSource(S3Items):
    """Archives without S3; *breaks* is the name of one whose bytes stop in the middle."""

    breaks: str
    opened: list[str]

    def __init__(self, breaks: str = "") -> None:
        vars(self).update(breaks=breaks, opened=[])  # it is frozen

    def open(self, item: ArchiveItem) -> OpenObject:
        """Its chunks."""
        self.opened.append(item.name)
        return OpenObject(item.size_bytes, "", self._chunks(item))

    def bytes_of(self, item: ArchiveItem, opened: OpenObject) -> Bytes:
        """Its chunks, and ranges of it."""
        content = content_of(item.size_bytes)
        return Bytes(opened.chunks, lambda offset, length: content[offset : offset + length])

    def _chunks(self, item: ArchiveItem) -> Generator[bytes]:
        content = content_of(item.size_bytes)
        for offset in range(0, len(content), CHUNK_BYTES):
            if item.name == self.breaks and offset > len(content) / 2:
                raise SourceInterrupted("the connection broke")
            yield content[offset : offset + CHUNK_BYTES]


@pytest.mark.parametrize("workers", [1, 3])
@pytest.mark.parametrize("work", list(ArchiveWork))
@pytest.mark.parametrize("schedule", IN_PROCESS)
def test_every_schedule_processes_every_item(
    schedule: Schedule,
    work: ArchiveWork,
    workers: int,
    items: tuple[ArchiveItem, ...],
    tmp_path: Path,
) -> None:
    """All results are the known ones, and the disk is empty afterwards."""
    source = FakeSource()
    values = ScheduleRun(schedule, work, workers, tmp_path).measured(source, items)
    assert sorted(source.opened) == sorted(item.name for item in items)
    assert values["items"] == len(items)
    assert ("fetch_ms" in values) == (schedule is not Schedule.STREAM)
    assert list(tmp_path.iterdir()) == []


@needs_programs
@pytest.mark.parametrize("work", list(ArchiveWork))
def test_the_shell_comes_to_the_same_results(
    work: ArchiveWork,
    items: tuple[ArchiveItem, ...],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """As the commands of elsotanillo (2020) do; a wrong expectation is found there, too."""
    monkeypatch.setitem(FOLDER_PROCESSORS, Schedule.SHELL, shell.process_in_shell)
    run = ScheduleRun(Schedule.SHELL, work, 2, tmp_path)
    assert run.measured(FakeSource(), items)["disk_peak_bytes"] == sum(SIZES)
    wrong = replace(items[2], members_sha1="0" * 40, lines=1)
    with pytest.raises(ItemFailed, match=r"310000.zip: .* instead of"):
        run.measured(FakeSource(), (*items[:2], wrong))
    assert list(tmp_path.iterdir()) == []


def test_a_missing_program_is_a_result(
    items: tuple[ArchiveItem, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The sample names what is not there, and nothing was fetched."""
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delitem(FOLDER_PROCESSORS, Schedule.SHELL, raising=False)
    shell.add()
    source = FakeSource()
    with pytest.raises(
        ItemFailed, match="needs parallel, unzip and bash, which are not installed here"
    ) as error:
        ScheduleRun(Schedule.SHELL, ArchiveWork.COUNT_LINES, 1, tmp_path).measured(source, items)
    assert (error.value.error, source.opened) == ("NotInstalled", [])


@pytest.mark.parametrize("workers", [1, 3])
@pytest.mark.parametrize("number", range(len(SIZES)))
@pytest.mark.parametrize("schedule", IN_PROCESS)
def test_a_broken_download_ends_everything(
    schedule: Schedule, number: int, workers: int, items: tuple[ArchiveItem, ...], tmp_path: Path
) -> None:
    """Whichever archive it is: the source's error comes through, and no file stays."""
    source = FakeSource(breaks=items[number].name)
    with pytest.raises(SourceInterrupted):
        ScheduleRun(schedule, ArchiveWork.COUNT_LINES, workers, tmp_path).measured(source, items)
    assert list(tmp_path.iterdir()) == []
    assert threads_of_runs() == []


@pytest.mark.parametrize("workers", [1, 3])
@pytest.mark.parametrize("number", range(len(SIZES)))
@pytest.mark.parametrize("schedule", IN_PROCESS)
def test_a_wrong_result_ends_everything(
    schedule: Schedule, number: int, workers: int, items: tuple[ArchiveItem, ...], tmp_path: Path
) -> None:
    """Whichever archive it is: the cause names it with both values, and no file stays."""
    listed = list(items)
    listed[number] = replace(listed[number], members_sha1="0" * 40)
    with pytest.raises(ItemFailed, match=f"{listed[number].name}: members-sha1") as error:
        ScheduleRun(schedule, ArchiveWork.UNZIP_SHA1, workers, tmp_path).measured(
            FakeSource(), listed
        )
    assert error.value.error == "WrongItem"
    assert list(tmp_path.iterdir()) == []
    assert threads_of_runs() == []


@pytest.mark.parametrize("schedule", [Schedule.ALL_FIRST, Schedule.QUEUE_2])
def test_a_full_disk_is_a_failed_sample(
    schedule: Schedule, items: tuple[ArchiveItem, ...], tmp_path: Path
) -> None:
    """With the system's own words, and an empty disk."""

    class Full(FakeSource):
        def _chunks(self, item: ArchiveItem) -> Generator[bytes]:
            yield content_of(item.size_bytes)[:CHUNK_BYTES]
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with pytest.raises(ItemFailed, match="No space left on device") as error:
        ScheduleRun(schedule, ArchiveWork.UNZIP_SHA1, 1, tmp_path).measured(Full(), items)
    assert error.value.error == "NotFetched"
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("work", list(ArchiveWork))
def test_an_object_that_is_no_archive_is_a_failed_sample(work: ArchiveWork, tmp_path: Path) -> None:
    """As a user's own manifest may have one."""

    class Noise(FakeSource):
        def _chunks(self, item: ArchiveItem) -> Generator[bytes]:
            yield b"x" * item.size_bytes

    item = ArchiveItem("noise.zip", 70_000, "0" * 40, "0" * 40, 0)
    with pytest.raises(ItemFailed, match=r"noise.zip: ") as error:
        ScheduleRun(Schedule.ALL_FIRST, work, 1, tmp_path).measured(Noise(), [item])
    assert error.value.error == "NotUnzipped"


def test_a_worker_that_is_stopped_closes_its_archive(
    items: tuple[ArchiveItem, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At once, although the error still refers to it."""
    path = tmp_path / items[0].name
    path.write_bytes(content_of(items[0].size_bytes))
    closed: list[Path] = []

    def chunks_of(path: Path) -> Generator[bytes]:
        try:
            yield path.read_bytes()
        finally:
            closed.append(path)

    monkeypatch.setattr(stages, "chunks_of", chunks_of)
    queue = DiskQueue(1, 10**9, opens_at_end=False)
    queue.stop()
    with pytest.raises(Stopped) as error:
        stages.DiskWorker(queue, ArchiveWork.UNZIP_SHA1).process(items[0], path)
    assert (error.type, closed) == (Stopped, [path])


def threads_of_runs() -> list[threading.Thread]:
    """Threads of either side that still run."""
    return [thread for thread in threading.enumerate() if thread.name.startswith("fetch")]


@dataclass
class Sides:
    """Both sides in memory; *order* is the sequence of their steps."""

    folder: Path
    order: list[str] = field(default_factory=list)
    on_disk: int = 0
    most: int = 0

    def fetch(self, item: ArchiveItem) -> Path:
        """A file of one byte."""
        self.on_disk += item.size_bytes
        self.most = max(self.most, self.on_disk)
        self.order.append(f"fetch {item.name}")
        path = self.folder / item.name
        path.write_bytes(b"x")
        return path

    def process(self, item: ArchiveItem, path: Path) -> None:  # noqa: ARG002 - as the protocol
        """Slowly."""
        time.sleep(0.005)  # the other side comes as far as it may
        self.order.append(f"work {item.name}")
        self.on_disk -= item.size_bytes


def plain(*sizes: int) -> list[ArchiveItem]:
    """Items without content."""
    return [ArchiveItem(f"{number}", size, "", "", 0) for number, size in enumerate(sizes)]


def test_all_first_processes_nothing_before_the_last_is_fetched(tmp_path: Path) -> None:
    """Bounds mean nothing to it: they could only stop it for ever."""
    sides = Sides(tmp_path)
    queue = DiskQueue(None, 1, opens_at_end=True)
    run_pipeline(queue, sides.fetch, sides.process, 2, plain(5, 5, 5))
    assert [step.split()[0] for step in sides.order] == ["fetch"] * 3 + ["work"] * 3


@pytest.mark.parametrize("depth", [1, 2, 4])
def test_a_queue_is_bounded_by_its_depth(depth: int, tmp_path: Path) -> None:
    """As many are ahead of the worker as it says, and one is with the worker."""
    sides = Sides(tmp_path)
    queue = DiskQueue(depth, 10**9, opens_at_end=False)
    run_pipeline(queue, sides.fetch, sides.process, 1, plain(*[1] * 12))
    assert 1 <= queue.peak_bytes <= depth + 1


def test_a_queue_is_bounded_by_bytes(tmp_path: Path) -> None:
    """However deep it may be; an item larger than the room comes when it is alone."""
    sides = Sides(tmp_path)
    queue = DiskQueue(8, 100, opens_at_end=False)
    run_pipeline(queue, sides.fetch, sides.process, 2, plain(60, 30, 50, 10, 250, 40, 40))
    assert sides.most == queue.peak_bytes == 250
    assert len(sides.order) == 14
    assert sides.order.index("fetch 4") > max(sides.order.index(f"work {n}") for n in range(4))


@pytest.mark.parametrize("waits", ["reserve", "take"])
def test_a_stopped_queue_ends_every_wait(waits: str) -> None:
    """Neither side can hang, and neither goes on."""
    queue = DiskQueue(1, 100, opens_at_end=False)
    if waits == "reserve":
        queue.reserve(100)
    seen: list[type[BaseException]] = []

    def wait() -> None:
        try:
            queue.reserve(1) if waits == "reserve" else queue.take()
        except Stopped as error:
            seen.append(type(error))

    thread = threading.Thread(target=wait, daemon=True)
    thread.start()
    queue.stop()
    thread.join(60)
    assert seen == [Stopped]
    with pytest.raises(Stopped):
        list(queue.passing([b"more"]))


def test_an_interrupt_ends_both_sides(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As Ctrl-C while `tune run --here` waits."""

    def interrupted(_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("bucketsum_lab.workloads.fetch.pipeline.wait", interrupted)
    sides = Sides(tmp_path)
    queue = DiskQueue(1, 100, opens_at_end=False)
    with pytest.raises(KeyboardInterrupt):
        run_pipeline(queue, sides.fetch, sides.process, 1, plain(*[1] * 1000))
    assert threads_of_runs() == []


def test_the_page_cache_has_a_file_that_was_just_written(tmp_path: Path) -> None:
    """All of it, in bytes of the file and not of pages."""
    path = tmp_path / "file"
    path.write_bytes(b"x" * 10_000)
    assert cached_bytes(path) in (10_000, None)
    before, after = disk_bytes(), disk_bytes()
    if before is not None:
        assert {*before} == {"disk_read_bytes", "disk_written_bytes"}
        assert after == before
