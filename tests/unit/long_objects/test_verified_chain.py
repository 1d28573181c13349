"""Long objects are verified in slices, twice if they differ."""

import hashlib
from collections.abc import Callable
from dataclasses import replace
from typing import Any, Final

import pytest
from tests.support.sha1 import sha1_of
from tests.unit.long_objects.chain import Chain, Killed

from bucketsum.algorithms import EXTRA_ALGORITHMS
from bucketsum.errors import ObjectUnreadable, Released, SourceInterrupted, SourceUnavailable
from bucketsum.events.object_events import ObjectCreated
from bucketsum.hashing.ending import Purpose
from bucketsum.hashing.job import Job
from bucketsum.hashing.object_rows import unreadable_row
from bucketsum.hashing.verification import Verification
from bucketsum.invocation.deadline import Deadline
from bucketsum.long_objects.message import body_of, progress_in_message
from bucketsum.long_objects.progress import progress_of
from bucketsum.table.outcome import Outcome
from bucketsum.table.rows import Row, Status
from bucketsum.table.sequencer import NO_SEQUENCER

CONTENT: Final = bytes(range(256)) * 20 + b"the end"
ROT: Final = CONTENT.replace(b"the end", b"the enD")
SLICE_BYTES: Final = 1024
SLICES: Final = -(-len(CONTENT) // SLICE_BYTES)


def recorded_chain(algorithms: tuple[str, ...] = ()) -> tuple[Chain, ObjectCreated, Row]:
    """A chain, an object and its row, which is hashed in slices."""
    chain = Chain(SLICE_BYTES, algorithms)
    created = chain.put(CONTENT)
    chain.arrive(created)
    chain.run()
    chain.reads.clear()
    chain.reports.clear()
    return chain, created, chain.recorded(created)


def rot(chain: Chain, created: ObjectCreated, content: bytes = ROT) -> None:
    """Change the bytes of an object, and not its entity tag."""
    chain.objects[created.bucket, created.key] = created.etag or "", content


@pytest.mark.parametrize(
    ("content", "outcome", "readings"),
    [(CONTENT, Outcome.VERIFIED, 1), (ROT, Outcome.DIFFERS, 2)],
)
def test_a_long_object_is_verified_in_slices(
    content: bytes, outcome: Outcome, readings: int
) -> None:
    """A second reading of all its slices decides; the recorded digest stays."""
    chain, created, row = recorded_chain()
    rot(chain, created, content)
    chain.hand_over.begin(Job(created, Verification(row)))
    chain.run()
    assert chain.reports[-1].outcome is outcome
    assert len(chain.reports) == readings * SLICES
    after = chain.recorded(created)
    assert replace(after, verified=None, difference=None) == row
    assert bool(after.verified) == (outcome is Outcome.VERIFIED)
    assert bool(after.difference) == (outcome is Outcome.DIFFERS)
    assert chain.in_progress() == []


@pytest.mark.parametrize("name", ["sha1", *EXTRA_ALGORITHMS, "size_bytes", "etag"])
def test_each_recorded_value_of_a_long_object_is_compared(name: str) -> None:
    """With any other value it differs, and the row keeps what it has."""
    chain, created, row = recorded_chain(EXTRA_ALGORITHMS)
    version = replace(created, version_id="v1")
    other: dict[str, Any] = {"size_bytes": 7, "etag": "f" * 32, "sha1": "0" * 40}
    if name in EXTRA_ALGORITHMS:
        other["digests"] = {**row.digests, name: "0" * len(row.digests[name])}
    changed = "digests" if name in EXTRA_ALGORITHMS else name
    row = replace(row, entry="v1", **{changed: other[changed]})
    chain.table.record(row)
    chain.hand_over.begin(Job(version, Verification(row)))
    chain.run()
    assert chain.reports[-1].outcome is Outcome.DIFFERS
    after = chain.recorded(version)
    assert after.difference
    assert after.difference.digest.startswith(f"{name}:")
    assert replace(after, difference=None) == row


def test_rot_that_the_second_reading_does_not_see_is_no_difference() -> None:
    """A check that fails once and passes on a second look wakes nobody."""
    chain, created, row = recorded_chain()
    rot(chain, created)
    chain.on_read = lambda: rot(chain, created, CONTENT) if len(chain.reports) >= SLICES else None
    chain.hand_over.begin(Job(created, Verification(row)))
    chain.run()
    assert chain.reports[-1].outcome is Outcome.VERIFIED
    assert chain.recorded(created).difference is None


def test_only_two_readings_that_agree_are_a_difference() -> None:
    """If the first had a wrong byte that the second has not, a third decides about rot."""
    chain, created, row = recorded_chain()
    rot(chain, created, CONTENT.replace(b"the end", b"thE end"))
    chain.on_read = lambda: rot(chain, created) if len(chain.reports) >= SLICES else None
    chain.hand_over.begin(Job(created, Verification(row)))
    chain.run()
    assert [report.outcome for report in chain.reports].count(Outcome.DIFFERS) == 1
    assert len(chain.reports) == 3 * SLICES
    difference = chain.recorded(created).difference
    assert difference
    assert difference.digest == f"sha1:{sha1_of(ROT)}"


def test_a_verification_in_slices_adds_the_digests_that_a_row_lacks() -> None:
    """And compares those that are switched off now."""
    chain, created, row = recorded_chain(("md5",))
    later = Chain(SLICE_BYTES, ("sha256",))
    later.objects, later.dynamodb.items = chain.objects, chain.dynamodb.items
    later.hand_over.begin(Job(created, Verification(row)))
    later.run()
    digests = later.recorded(created).digests
    assert digests == {**row.digests, "sha256": hashlib.sha256(CONTENT).hexdigest()}
    assert set(row.digests) == {"md5"}


def _overwritten(chain: Chain, created: ObjectCreated) -> None:
    newer = chain.put(b"newer", sequencer="0C")
    chain.table.record(
        replace(chain.recorded(created), sequencer="0C", sha1=sha1_of(b"newer"), etag=newer.etag)
    )


def _denied(_chain: Chain, _created: ObjectCreated) -> None:
    raise ObjectUnreadable("denied")


@pytest.mark.parametrize(
    ("change", "outcome"),
    [(_overwritten, Outcome.SUPERSEDED), (_denied, Outcome.UNREADABLE)],
)
def test_an_object_that_changes_between_slices_is_not_marked(
    change: Callable[[Chain, ObjectCreated], None], outcome: Outcome
) -> None:
    """It is overwritten or archived after the first slice: no row is written, and none marked."""
    chain, created, row = recorded_chain()
    chain.hand_over.begin(Job(created, Verification(row)))
    chain.on_read = lambda: change(chain, created) if len(chain.reads) == 2 else None
    chain.run()
    assert chain.reports[-1].outcome is outcome
    after = chain.recorded(created)
    assert (after.verified, after.difference) == (None, None)
    assert chain.in_progress() == []
    if change is _denied:
        assert after.failed_reading
        assert after.failed_reading.reason == "denied"
        assert replace(after, failed_reading=None) == row


def test_a_difference_is_not_lost_with_a_second_reading_that_is_refused() -> None:
    """The slice is tried again, and at last is a dead letter whose reason has the digest."""
    chain, created, row = recorded_chain()
    rot(chain, created)
    chain.on_read = lambda: _denied(chain, created) if len(chain.reports) >= SLICES else None
    chain.hand_over.begin(Job(created, Verification(row)))
    while len(chain.reports) < SLICES:
        chain.deliver(chain.messages.popleft())
    message = progress_in_message(chain.messages.popleft())
    with pytest.raises(SourceInterrupted, match=sha1_of(ROT)):
        chain.slicer.handle_slice(message, Deadline(chain.seconds_left))


@pytest.mark.parametrize("error", [SourceUnavailable("SlowDown"), SourceInterrupted("cut")])
def test_after_the_last_receive_a_long_object_is_unreadable(error: Exception) -> None:
    """Its chain ends, and the row says since when and why; a recording, and others, go on."""
    chain, created, row = recorded_chain()
    chain.hand_over.begin(Job(created, Verification(row)))
    message = progress_in_message(chain.messages.popleft())
    assert chain.slicer.give_up(message, KeyError("a bug")) is None
    assert chain.slicer.give_up(replace(message, offset=1), error) is None
    report = chain.slicer.give_up(message, error)
    assert report
    assert (report.outcome, report.reason) == (Outcome.UNREADABLE, str(error))
    after = chain.recorded(created)
    assert after.failed_reading
    assert replace(after, failed_reading=None) == row
    assert chain.in_progress() == []
    chain.progress_table.begin(progress_of(Job(created)))
    assert chain.slicer.give_up(message, error) is None


def test_slices_never_replace_the_digest_of_their_version() -> None:
    """A listing recorded it while they were read: they verify it, here in two readings."""
    chain = Chain(SLICE_BYTES)
    version = replace(chain.put(CONTENT), version_id="v1")
    chain.arrive(version)
    listed = unreadable_row(replace(version, sequencer=NO_SEQUENCER), "", None)
    row = replace(listed, status=Status.HASHED, reason=None, sha1="0" * 40)
    chain.table.record(row)
    chain.run()
    assert [report.outcome for report in chain.reports].count(Outcome.DIFFERS) == 1
    assert len(chain.reports) == 2 * SLICES
    after = chain.recorded(version)
    assert (after.sha1, chain.in_progress()) == (row.sha1, [])
    assert after.difference
    assert after.difference.digest == f"sha1:{sha1_of(CONTENT)}"


def test_a_last_slice_that_comes_again_is_no_second_verification(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Its worker died between the mark and the end of the chain: one reading, one mark."""

    def die(_: object) -> None:
        raise Killed

    chain, created, row = recorded_chain()
    chain.hand_over.begin(Job(created, Verification(row)))
    with monkeypatch.context() as patch:
        patch.setattr(chain.progress_table, "remove_progress", die)
        while chain.recorded(created).verified is None:
            last = chain.messages.popleft()
            chain.deliver(last)
    marked = chain.recorded(created)
    assert chain.deliver(last)
    assert (chain.recorded(created), chain.in_progress()) == (marked, [])


def test_a_recording_in_progress_is_no_verification() -> None:
    """Its slices may be of long ago: the verification waits until they end."""
    chain, created, row = recorded_chain()
    chain.progress_table.begin(progress_of(Job(created)))  # its message was never sent
    verification = Job(created, Verification(row))
    with pytest.raises(Released):
        chain.hand_over.begin(verification)
    chain.run()
    chain.hand_over.begin(verification)
    chain.run()
    assert chain.reports[-1].outcome is Outcome.VERIFIED


def test_the_purpose_is_in_the_message() -> None:
    """If another program removes the progress, the object is verified all the same."""
    _, created, row = recorded_chain()
    progress = progress_of(Job(created, Verification(row)))
    assert progress_in_message(body_of(progress)).purpose is Purpose.VERIFY
