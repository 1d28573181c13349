"""A small soak of the deployed stack; `make soak` runs a large one."""

from collections import deque
from dataclasses import replace

from tests.soak.faults import FaultKind
from tests.soak.findings import compared
from tests.soak.queues import Backlog
from tests.soak.report import MEMORY_FROM_OBJECTS
from tests.soak.run import Soak
from tests.soak.workers import Memory
from tests.soak.workload import Workload

from bucketsum_cli.aws.stack import Stack
from bucketsum_cli.emulator.emulator_state import LocalProject

OBJECTS = 300
VISIBILITY_SECONDS = 5


def test_nothing_is_lost_or_wrong_while_parts_fail_at_random(
    stack: Stack, project: LocalProject
) -> None:
    """Killed workers, cut connections, and errors of S3 cost time, but no row and no digest."""
    small = Soak(stack, project, OBJECTS, 1, lambda _: None, visibility_seconds=VISIBILITY_SECONDS)

    report = small.run()
    small.remove_objects()

    assert list(report.problems()) == []
    assert report.faults[FaultKind.WORKER_KILLED]
    assert report.faults[FaultKind.CONNECTION_CUT]
    assert report.malformed == 1
    leak = (Memory((60.0, 60.0, 60.0, 64.0)),)
    large = replace(report, objects=MEMORY_FROM_OBJECTS, memory=leak)
    assert [text.partition(":")[0] for text in large.problems()] == [
        "the memory of a worker is not flat"
    ]


def test_a_wrong_digest_and_a_lost_version_are_noticed(stack: Stack) -> None:
    """The comparison with the rows can fail."""
    backlog = Backlog(stack)
    (uploaded,) = Workload(stack, seed=2).uploaded(range(1), backlog)
    deque(backlog.drain(), maxlen=0)
    version = uploaded.versions[0]
    never = replace(version, row_key=replace(version.row_key, entry="never-uploaded"))

    findings = compared(stack, [replace(version, sha1="0" * 40), never])

    assert [version.sha1 in wrong for wrong in findings.wrong] == [True]
    assert findings.missing == (never.row_key,)
