"""The soak's comparison with the rows of a deployed stack; `make soak` runs a soak."""

from __future__ import annotations

from collections import deque
from dataclasses import replace

from tests.soak.findings import compared
from tests.soak.queues import Backlog
from tests.soak.workload import Workload

from bucketsum_cli.aws.stack import Stack


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
