"""The digest of a chain of slices is that of all bytes, after any faults."""

import json
import time
from dataclasses import replace
from functools import partial
from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from tests.support.sha1 import sha1_of
from tests.unit.long_objects.chain import Chain, Killed, Luck

from bucketsum.algorithms import EXTRA_ALGORITHMS
from bucketsum.digest import digest_of
from bucketsum.errors import (
    BadSettings,
    DamagedProgress,
    LibraryMissing,
    MalformedMessage,
    ObjectSuperseded,
    ObjectUnreadable,
    Released,
    SourceInterrupted,
    TooManySlices,
)
from bucketsum.events.notifications import events_in
from bucketsum.events.object_events import DeletedBy, ObjectCreated
from bucketsum.hashing.job import Job
from bucketsum.hashing.object_rows import unreadable_row
from bucketsum.hashing.recording import Recording
from bucketsum.invocation.deadline import Deadline
from bucketsum.long_objects import slice_bytes as slice_module
from bucketsum.long_objects.message import body_of, progress_in_message
from bucketsum.long_objects.portable_digest import BLOCK_BYTES
from bucketsum.long_objects.progress import PARTITION, ChainStatus, item_key, progress_of
from bucketsum.long_objects.slice_bytes import slice_bytes_in
from bucketsum.long_objects.slice_reader import MEMBERS_NOT_READ
from bucketsum.long_objects.slice_result import SliceOutcome
from bucketsum.table.archive_settings import Mode
from bucketsum.table.archive_status import ArchiveStatus
from bucketsum.table.digests_table import DigestsTable
from bucketsum.table.outcome import Outcome
from bucketsum.table.row_parts import Deletion
from bucketsum.table.rows import Status
from bucketsum.table.sequencer import NO_SEQUENCER, comparable_sequencer

CONTENT: Final = bytes(range(256)) * 20 + b"the end"
PATIENT: Final = Deadline(lambda: 900.0)
SIZES: Final = st.integers(1, len(CONTENT))
LUCK: Final = st.builds(
    Luck,
    deaths=st.dictionaries(st.integers(0, 60), st.booleans(), max_size=6),
    repeats=st.frozensets(st.integers(0, 60), max_size=6),
    picks=st.lists(st.integers(0, 5), max_size=30),
    copies=st.lists(st.booleans(), max_size=20),
)


@given(
    size=SIZES,
    slice_bytes=st.integers(BLOCK_BYTES, 3000),
    chunk_bytes=st.integers(60, 1500),
    algorithms=st.lists(st.sampled_from(EXTRA_ALGORITHMS), unique=True).map(tuple),
    luck=LUCK,
)
@hypothesis_settings(max_examples=100)
def test_no_byte_is_skipped_or_repeated(
    size: int, slice_bytes: int, chunk_bytes: int, algorithms: tuple[str, ...], luck: Luck
) -> None:
    """Any cuts, any order and duplication of messages, and deaths at any call."""
    chain = Chain(slice_bytes, algorithms, luck, chunk_bytes)
    content = CONTENT[:size]
    created = chain.put(content)

    chain.arrive(created)
    chain.arrive(created)  # S3 delivers its event twice
    chain.run(luck)

    row = chain.recorded(created)
    digest = digest_of([content], algorithms)
    assert (row.status, row.sha1, row.digests) == (Status.HASHED, digest.sha1, digest.extra)
    assert row.size_bytes == size
    assert chain.in_progress() == []


@given(size=SIZES, new_size=SIZES, before=st.integers(0, 8), luck=LUCK)
@hypothesis_settings(max_examples=100)
def test_an_overwritten_object_gives_way(size: int, new_size: int, before: int, luck: Luck) -> None:
    """After some slices another object is put: its digest is recorded, and nothing remains."""
    chain = Chain(512, luck=luck, chunk_bytes=100)
    chain.arrive(chain.put(CONTENT[:size]))
    for _ in range(before):
        if chain.messages and not chain.deliver(body := chain.messages.popleft()):
            chain.messages.append(body)

    newer = chain.put(CONTENT[-new_size:], sequencer="02")
    chain.arrive(newer)
    chain.run(luck)

    row = chain.recorded(newer)
    assert (row.sha1, row.etag) == (sha1_of(CONTENT[-new_size:]), newer.etag)
    assert chain.in_progress() == []


@given(luck=LUCK, before=st.integers(0, 8))
@hypothesis_settings(max_examples=50)
def test_a_deleted_object_ends_its_chain(luck: Luck, before: int) -> None:
    """It is gone, and so is its progress."""
    chain = Chain(512, luck=luck, chunk_bytes=100)
    chain.arrive(chain.put(CONTENT))
    for _ in range(before):
        if chain.messages and not chain.deliver(body := chain.messages.popleft()):
            chain.messages.append(body)
    chain.objects.clear()
    chain.run()
    assert chain.in_progress() == []
    assert chain.reports[-1].outcome in (Outcome.GONE, SliceOutcome.SUPERFLUOUS)


def started(slice_bytes: int = 1024) -> tuple[Chain, ObjectCreated]:
    """A chain of `CONTENT` before its first slice."""
    chain = Chain(slice_bytes)
    created = chain.put(CONTENT)
    chain.arrive(created)
    return chain, created


@pytest.mark.parametrize("seconds", [(900.0, 900.0, 500.0, 44.9), (15.0, 15.0, 5.0, 4.9)])
def test_a_slice_ends_with_its_time(seconds: tuple[float, ...]) -> None:
    """With the chunk at which less than 45 s or a third are left, at the end of a block."""
    chain = Chain(None)
    chain.arrive(chain.put(CONTENT))
    left = iter(seconds)
    chain.seconds_left = lambda: next(left)
    chain.deliver(chain.messages.popleft())
    [report] = chain.reports
    assert report.outcome is SliceOutcome.CONTINUED
    assert report.progress is not None
    assert report.progress.offset == 2000 // BLOCK_BYTES * BLOCK_BYTES
    assert report.measurement is not None
    assert report.measurement.size_bytes == report.progress.offset


def test_only_one_worker_is_at_a_slice() -> None:
    """A second one waits until the lease has ended; then it does what is left to do."""
    chain, _ = started()
    [body] = chain.messages
    [progress] = chain.in_progress()
    at = int(chain.time)
    assert chain.progress_table.lease(progress, at + 905, at)
    with pytest.raises(Released) as caught:
        chain.slicer.handle_slice(progress_in_message(body), PATIENT)
    assert caught.value.seconds == 906
    chain.time += 906
    assert chain.deliver(body)
    assert chain.reports[-1].outcome is SliceOutcome.CONTINUED


def test_a_slice_that_fails_lets_its_lease_go() -> None:
    """The next try does not wait for the end of this invocation."""
    chain, _ = started()
    [body] = chain.messages

    def broken() -> None:
        raise SourceInterrupted("broke")

    chain.on_read = broken
    assert not chain.deliver(body)
    [progress] = chain.in_progress()
    assert progress.leased_until == 0


def test_fewer_bytes_than_announced_are_no_digest() -> None:
    """The count of bytes is checked in each slice, not only by the reader."""
    chain, created = started(slice_bytes=100_000)
    [body] = chain.messages
    etag, content = chain.objects["inbox", "big"]
    chain.objects["inbox", "big"] = etag, content[:-1]
    opened = chain.open(created)
    chain.open = lambda *_: replace(opened, size_bytes=len(content))  # type: ignore[method-assign]
    with pytest.raises(SourceInterrupted, match="5126 bytes were received of an object of 5127"):
        chain.slicer.handle_slice(progress_in_message(body), PATIENT)
    assert chain.row(created) is None


@pytest.mark.parametrize(
    "error", [ObjectUnreadable("access denied"), LibraryMissing("no SHA1_Update")]
)
def test_what_cannot_be_read_is_recorded_and_continues_later(
    error: ObjectUnreadable, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A row says why; when its event comes again, the chain goes on where it was."""
    chain, created = started()
    chain.deliver(chain.messages.popleft())
    with monkeypatch.context() as patch:
        refuse = patch.setattr
        if isinstance(error, LibraryMissing):
            refuse(slice_module, "library_for", _raising(error))
        else:
            refuse(chain, "open", _raising(error))
        chain.run()
    row = chain.recorded(created)
    assert (row.status, row.reason) == (Status.UNREADABLE, str(error))
    [progress] = chain.in_progress()
    assert (progress.status, progress.offset) == (ChainStatus.STOPPED, 1024)

    chain.arrive(created)
    chain.run()
    assert chain.recorded(created).sha1 == sha1_of(CONTENT)
    assert [offset for offset, _ in chain.reads].count(0) == 1


def _raising(error: BaseException) -> object:
    def refused(*_: object) -> object:
        raise error

    return refused


def test_a_stopped_chain_ends_and_goes_on_where_it_was() -> None:
    """A person stops it during a slice: the slice is saved, and no message is sent."""
    chain, created = started()
    body = chain.messages.popleft()
    [progress] = chain.in_progress()
    chain.on_read = lambda: chain.progress_table.stop(progress, "stopped")
    assert chain.deliver(body)
    chain.on_read = lambda: None
    assert chain.reports[-1].outcome is SliceOutcome.STOPPED
    assert not chain.messages
    assert chain.deliver(body)  # a duplicate changes nothing
    [progress] = chain.in_progress()
    assert (progress.offset, progress.reason) == (1024, "stopped")

    chain.arrive(created)
    [progress] = chain.in_progress()
    assert (progress.status, progress.reason) == (ChainStatus.RUNNING, None)
    chain.run()
    assert chain.recorded(created).sha1 == sha1_of(CONTENT)


def test_a_loop_is_ended() -> None:
    """More slices than the size allows are a defect, and go to the dead-letter queue."""
    chain, _ = started()
    [progress] = chain.in_progress()
    chain.progress_table.advance(progress, replace(progress, offset=0, hop=7))
    with pytest.raises(TooManySlices, match="7 slices have read 0 of 5127 bytes"):
        chain.slicer.handle_slice(progress_in_message(chain.messages[0]), PATIENT)


def test_an_older_event_does_not_replace_a_newer_object() -> None:
    """Events come in any order."""
    chain = Chain(1024)
    older = chain.put(CONTENT[:4000], sequencer="01")
    newer = chain.put(CONTENT, sequencer="02")
    chain.arrive(newer)
    with pytest.raises(ObjectSuperseded):
        chain.hand_over.begin(Job(older))
    chain.run()
    assert chain.recorded(newer).sha1 == sha1_of(CONTENT)


def test_an_event_without_a_place_in_the_order_waits_for_the_other_object() -> None:
    """A restored or listed object may be the newer: the chain of the other may have no message."""
    chain = Chain(1024)
    chain.arrive(chain.put(CONTENT[:4000], sequencer="01"))
    restored = replace(chain.put(CONTENT, sequencer="02"), sequencer=NO_SEQUENCER)
    with pytest.raises(Released) as caught:
        chain.hand_over.begin(Job(restored))
    assert caught.value.seconds == 600
    chain.run()
    chain.arrive(restored)
    chain.run()
    assert chain.recorded(restored).sha1 == sha1_of(CONTENT)


def test_a_listed_object_with_the_place_of_a_deletion_waits_too() -> None:
    """That place is not its own: it may be newer than the object that is being hashed."""
    chain = Chain(1024)
    chain.arrive(chain.put(CONTENT[:4000], sequencer="02"))
    listed = chain.put(CONTENT, sequencer="01")
    seen = Deletion("2026-11-01T00:00:00.000Z", DeletedBy.REQUEST, comparable_sequencer("01"))
    with pytest.raises(Released):
        chain.hand_over.begin(Job(listed, Recording(seen)))


def test_a_run_waits_for_an_object_that_another_counts() -> None:
    """The slicer counts its end for one run; the message of this run finds the row later."""
    chain = Chain(1024)
    listed = replace(chain.put(CONTENT), sequencer=NO_SEQUENCER)
    chain.hand_over.begin(Job(listed, run="first"))
    chain.hand_over.begin(Job(listed, run="first"))
    with pytest.raises(Released):
        chain.hand_over.begin(Job(listed, run="second"))
    chain.arrive(listed)  # an event counts nothing
    assert [progress.run for progress in chain.in_progress()] == ["first"]


@pytest.mark.parametrize(("etag", "run"), [(None, "second"), ("b", "first")])
def test_a_chain_that_others_wait_for_has_a_message(etag: str | None, run: str) -> None:
    """If that of its first slice was not sent, nobody else sends it once the row is there."""
    chain = Chain(1024)
    listed = replace(chain.put(CONTENT), sequencer=NO_SEQUENCER)
    chain.progress_table.begin(progress_of(Job(listed, run="first")))
    for _ in range(2):
        with pytest.raises(Released):
            chain.hand_over.begin(Job(replace(listed, etag=etag or listed.etag), run=run))
    assert len(chain.messages) == 1
    chain.run()
    assert chain.in_progress() == []


@pytest.mark.parametrize(
    ("mb_per_s", "seconds"), [(80.0, 600), (1.0, 7_200), (0.001, 36_000)], ids=str
)
def test_an_event_waits_as_long_as_the_other_object_takes(mb_per_s: float, seconds: int) -> None:
    """Few receives are spent on a long wait, and SQS allows none above 12 hours."""
    chain = Chain(1024)
    other = replace(progress_of(Job(chain.put(CONTENT))), size_bytes=7_200_000_000)
    chain.progress_table.begin(replace(other, mb_per_s=mb_per_s))
    listed = replace(chain.put(CONTENT[:4000]), sequencer=NO_SEQUENCER)
    with pytest.raises(Released) as caught:
        chain.hand_over.begin(Job(replace(listed, etag="b")))
    assert caught.value.seconds == seconds


def test_a_listed_object_takes_the_place_of_one_that_has_stopped() -> None:
    """Its event was lost: to wait for a chain that moves no more would end as a dead letter."""
    chain, stopped = started()
    late = chain.messages[0]
    [progress] = chain.in_progress()
    chain.table.record(unreadable_row(stopped, "AccessDenied", None))
    assert chain.progress_table.stop(progress, "AccessDenied")
    listed = chain.put(CONTENT[:4000])
    chain.hand_over.begin(Job(listed, Recording(chain.recorded(stopped))))
    assert chain.deliver(late)
    chain.run()
    assert chain.recorded(listed).sha1 == sha1_of(CONTENT[:4000])
    assert not chain.in_progress()


def test_a_stopped_chain_begins_again_although_its_slice_is_leased() -> None:
    """The lease may be nobody's: its worker did not learn that it had it, and gave up."""
    chain, created = started()
    [progress] = chain.in_progress()
    assert chain.progress_table.lease(progress, int(chain.time) + 900, int(chain.time))
    assert chain.progress_table.stop(progress, "a person stopped it")
    assert chain.deliver(chain.messages.popleft())
    chain.arrive(replace(created, sequencer="0A"))
    chain.run()
    assert chain.recorded(created).sequencer == comparable_sequencer("0A")


def test_an_object_that_s3_still_has_waits_for_an_older_one() -> None:
    """A late message of an older event took its place in the table: it was listed, without one."""
    chain, older = started()
    late = chain.messages.popleft()
    [progress] = chain.in_progress()
    chain.progress_table.remove_progress(progress)
    listed = replace(chain.put(CONTENT[:4000]), sequencer=NO_SEQUENCER)
    chain.hand_over.begin(Job(listed))
    assert chain.deliver(late)
    assert not chain.deliver(chain.messages[0])
    chain.run()
    assert chain.recorded(older).etag == listed.etag


def test_a_newer_event_of_the_same_content_orders_the_row() -> None:
    """The same bytes are put again while they are hashed: the row has the newer event's place."""
    chain, created = started()
    chain.deliver(chain.messages.popleft())
    newer = replace(created, sequencer="0A", event_time="2026-12-01T00:00:00.000Z")
    chain.arrive(newer)
    chain.arrive(created)  # the older event once more
    chain.run()
    row = chain.recorded(created)
    assert (row.sequencer, row.arrived_at) == (comparable_sequencer("0A"), newer.event_time)


def test_a_newer_event_during_the_last_slice_orders_the_row() -> None:
    """The slice is read again for it: else its object, which no message names, would be lost."""
    chain, created = started(slice_bytes=100_000)
    newer = replace(created, sequencer="0A")
    chain.on_read = partial(chain.arrive, newer)
    assert not chain.deliver(chain.messages[0])
    chain.on_read = lambda: None
    chain.run()
    assert chain.recorded(created).sequencer == comparable_sequencer("0A")
    assert not chain.in_progress()


@pytest.mark.parametrize("gone", [False, True])
def test_progress_is_kept_for_a_newer_event(gone: bool) -> None:  # noqa: FBT001 - a parameter
    """The worker of an object that is over does not end the chain of an equal object."""
    chain, created = started(slice_bytes=100_000)
    newer = replace(created, sequencer="0A")
    [seen] = chain.in_progress()
    if gone:
        assert chain.progress_table.remove_progress(seen)
        assert chain.progress_table.remove_progress(seen)  # botocore repeats a request
    else:
        chain.arrive(newer)
        assert not chain.progress_table.remove_progress(seen)
        assert chain.progress_table.stop(seen, "why") is None
        assert chain.progress_table.restart(seen, seen) is None  # it would set the older event


def test_the_reason_is_recorded_before_the_chain_stops(monkeypatch: pytest.MonkeyPatch) -> None:
    """A worker that dies between the two must not leave a chain that has stopped without a row."""
    chain, created = started()
    monkeypatch.setattr(chain, "open", _raising(ObjectUnreadable("access denied")))
    monkeypatch.setattr(type(chain.progress_table), "stop", _raising(Killed()))
    assert not chain.deliver(chain.messages.popleft())
    assert chain.recorded(created).reason == "access denied"


def test_an_archive_says_that_its_members_were_not_read() -> None:
    """Its own digest is recorded, as of every archive."""
    chain = Chain(1024)
    created = chain.put(CONTENT, key="big.zip")
    chain.hand_over.begin(Job(created, mode=Mode.STREAM))
    chain.run()
    row = chain.recorded(created)
    assert row.archive is not None
    assert (row.archive.status, row.archive.reason) == (ArchiveStatus.OUT_OF_TIME, MEMBERS_NOT_READ)
    assert row.sha1 == sha1_of(CONTENT)
    archive = row.archive
    counts = (archive.members, archive.directories, archive.unreadable, archive.member_bytes)
    assert counts == (0, 0, 0, 0)


def test_a_listed_object_replaces_only_the_row_that_was_seen() -> None:
    """A repair of a backfill keeps the row's sequencer, and gives way to any other row."""
    chain = Chain(1024)
    old = chain.put(CONTENT[:3000], sequencer="05")
    chain.arrive(old)
    chain.run()
    seen = chain.row(old)
    listed = replace(chain.put(CONTENT, sequencer="listed"), sequencer="05")
    chain.hand_over.begin(Job(listed, Recording(seen)))
    chain.run()
    assert chain.recorded(listed).sha1 == sha1_of(CONTENT)
    chain.hand_over.begin(Job(listed, Recording(seen)))  # what was seen is there no more
    chain.run()
    assert chain.reports[-1].outcome is Outcome.UNCHANGED


def test_the_event_of_a_listed_object_records_its_digest() -> None:
    """It comes while the object is hashed in place of the row that the backfill has seen."""
    chain = Chain(1024)
    old = chain.put(CONTENT[:3000], sequencer="05")
    chain.arrive(old)
    chain.run()
    event = chain.put(CONTENT, sequencer="0A")
    chain.hand_over.begin(Job(replace(event, sequencer="05"), Recording(chain.row(old))))
    chain.arrive(event)
    chain.run()
    row = chain.recorded(event)
    assert (row.sha1, row.sequencer) == (sha1_of(CONTENT), comparable_sequencer("0A"))


def test_a_row_that_a_reason_replaced_gets_its_digest(monkeypatch: pytest.MonkeyPatch) -> None:
    """The row that the backfill has seen is then no longer there."""
    chain = Chain(1024)
    old = chain.put(CONTENT[:3000], sequencer="05")
    chain.arrive(old)
    chain.run()
    listed = replace(chain.put(CONTENT, sequencer="listed"), sequencer="05")
    chain.hand_over.begin(Job(listed, Recording(chain.row(old))))
    body = chain.messages[0]
    with monkeypatch.context() as patch:
        patch.setattr(chain, "open", _raising(ObjectUnreadable("access denied")))
        patch.setattr(type(chain.progress_table), "stop", _raising(Killed()))
        assert not chain.deliver(body)
    chain.run()
    assert chain.recorded(listed).sha1 == sha1_of(CONTENT)


def test_progress_expires() -> None:
    """An item whose chain nobody ends does not stay for ever."""
    chain, _ = started()
    chain.deliver(chain.messages.popleft())
    [item] = chain.dynamodb.items.values()
    assert int(item["expires_at"]["N"]) > time.time() + 28 * 24 * 3600


def test_keys_of_any_length_have_progress() -> None:
    """An item's own key is a digest; no object can have its partition."""
    chain = Chain(1024)
    created = chain.put(CONTENT, key="ü" * 512)
    chain.arrive(created)
    [(partition, entry)] = chain.dynamodb.items
    assert partition == PARTITION
    assert "/" not in partition
    assert len(entry) == 64
    chain.run()
    assert chain.row(created) is not None


def test_a_message_is_an_event_too() -> None:
    """Sent to the arrivals queue from the dead-letter queue, it hands the object over again."""
    chain, created = started()
    [body] = chain.messages
    [event] = events_in(body)
    assert isinstance(event, ObjectCreated)
    assert replace(event, sequencer=created.sequencer) == created
    assert event.sequencer == comparable_sequencer(created.sequencer)
    [progress] = chain.in_progress()
    versioned = replace(progress, version="v1", sequencer="", key="a b+ü")
    [event] = events_in(body_of(versioned))
    assert isinstance(event, ObjectCreated)
    assert (event.version_id, event.key, event.sequencer) == ("v1", "a b+ü", "0" * 32)


@pytest.mark.parametrize(
    "change",
    [
        {"slice": None},
        {"slice": {"offset": 0}},
        {"slice": {"offset": -1, "hop": 0}},
        {"slice": {"offset": True, "hop": 0}},
        {"detail-type": "Object Restore Completed"},
    ],
)
def test_other_messages_are_malformed(change: dict[str, object]) -> None:
    """They name the field, and go to the dead-letter queue."""
    chain, _ = started()
    body = json.dumps({**json.loads(chain.messages[0]), **change})
    with pytest.raises(MalformedMessage):
        progress_in_message(body)


def test_a_slice_without_an_entity_tag_is_malformed() -> None:
    """Its slices could be of different objects; and its progress item would be damaged."""
    chain, _ = started()
    message = json.loads(chain.messages[0])
    message["detail"]["object"]["etag"] = ""
    with pytest.raises(MalformedMessage, match="entity tag"):
        progress_in_message(json.dumps(message))


def test_the_size_of_slices_can_be_set() -> None:
    """For tests; a bad value ends the function at its start."""
    assert slice_bytes_in({}) is None
    assert slice_bytes_in({"SLICE_BYTES": "128"}) == 128
    for text in ("127", "-1", "1e6", "many"):
        with pytest.raises(BadSettings, match="SLICE_BYTES"):
            slice_bytes_in({"SLICE_BYTES": text})


@pytest.mark.parametrize(
    ("attribute", "value"),
    [
        ("offset", {"N": "384"}),  # not the offset of the state: bytes would be left out
        ("offset", {"N": "100000"}),
        ("state_sha1", {"S": "00"}),
        ("state_sha1", {"S": "no hex"}),
        ("state_other", {"S": "00" * 28}),
        ("started_at", {"S": "yesterday"}),
        ("etag", {"N": "1"}),
    ],
)
def test_a_damaged_state_is_never_continued(attribute: str, value: dict[str, str]) -> None:
    """Somebody else wrote the item: its message is dead-lettered, and no row is written."""
    chain, created = started()
    chain.deliver(chain.messages.popleft())
    body = chain.messages.popleft()
    [progress] = chain.in_progress()
    item = chain.dynamodb.items[tuple(v["S"] for v in item_key(progress.row_key).values())]
    item[attribute] = value
    if attribute == "offset":
        body = json.dumps({**json.loads(body), "slice": {"offset": int(value["N"]), "hop": 1}})
    with pytest.raises(DamagedProgress):
        chain.slicer.handle_slice(progress_in_message(body), PATIENT)
    assert chain.row(created) is None


@pytest.mark.parametrize("place", [0, 20, -1])
def test_a_flipped_digit_of_a_state_records_no_digest(place: int) -> None:
    """The CRC-32 beside the states finds it; the chain begins again once its item is deleted."""
    chain, created = started()
    chain.deliver(chain.messages.popleft())
    [key] = (key for key in chain.dynamodb.items if key[0] == PARTITION)
    state = list(chain.dynamodb.items[key]["state_sha1"]["S"])
    state[place] = "0" if state[place] != "0" else "1"
    changed(chain, state_sha1={"S": "".join(state)})
    with pytest.raises(DamagedProgress, match="CRC-32"):
        chain.run()
    assert chain.row(created) is None


def test_states_of_an_earlier_release_are_continued() -> None:
    """It wrote no CRC-32, or left that of an earlier offset: its running chains go on."""
    for crc32 in (None, {"S": "0 00000000"}):
        chain, created = started()
        chain.deliver(chain.messages.popleft())
        [key] = (key for key in chain.dynamodb.items if key[0] == PARTITION)
        chain.dynamodb.items[key].pop("saved_crc32")
        if crc32:
            changed(chain, saved_crc32=crc32)
        chain.run()
        assert chain.recorded(created).sha1 == sha1_of(CONTENT)


def changed(chain: Chain, **attributes: dict[str, str] | None) -> None:
    """Let another program change the only progress item, or remove it."""
    [key] = (key for key in chain.dynamodb.items if key[0] == PARTITION)
    if not attributes:
        del chain.dynamodb.items[key]
    for name, value in attributes.items():
        chain.dynamodb.items[key][name] = value


@pytest.mark.parametrize("slices", [0, 2, 5])
def test_an_object_whose_progress_was_removed_begins_again(slices: int) -> None:
    """Its next message has all that is needed, also the row to replace and the archive's mode."""
    chain = Chain(1024)
    listed = chain.put(CONTENT)
    client: Any = chain.dynamodb
    seen = unreadable_row(replace(listed, etag="before"), "a reason", None)
    DigestsTable(client, "digests").record(seen)
    chain.hand_over.begin(Job(listed, Recording(seen), mode=Mode.STREAM))
    for _ in range(slices):
        chain.deliver(chain.messages.popleft())
    changed(chain)
    chain.run()
    row = chain.recorded(listed)
    assert (row.sha1, row.etag) == (sha1_of(CONTENT), listed.etag)
    assert row.archive
    assert SliceOutcome.BEGUN in {report.outcome for report in chain.reports}
    assert chain.in_progress() == []


def test_an_object_begins_again_although_its_key_has_the_row_of_an_older_one() -> None:
    """Only the row of a newer object, or of this one, says that there is nothing left to do."""
    chain, older = started()
    chain.run()
    newer = chain.put(CONTENT[1:], sequencer="02")
    chain.arrive(newer)
    changed(chain)
    chain.run()
    assert chain.recorded(older).etag == newer.etag
    assert chain.recorded(newer).sha1 == sha1_of(CONTENT[1:])


@pytest.mark.parametrize(
    ("attribute", "value"),
    [
        ("offset", {"N": "896"}),
        ("sent_offset", {"N": "5000"}),
        ("hop", {"N": "-1"}),
        ("status", {"S": "weird"}),
        ("key", {"S": "another"}),
        ("version", {"S": "another"}),
        ("etag", {"S": "another"}),
        ("etag", {"S": ""}),
        ("arrived_at", {"S": ""}),
        ("started_at", {"S": "2026-11-24T07:06:79.902Z"}),
        ("sequencer", {"S": "5"}),
        ("size_bytes", {"N": "1" + 30 * "0"}),
        ("leased_until", {"N": "99999999999"}),
        ("state_sha1", {"S": "00"}),
    ],
)
def test_the_advice_of_a_damaged_progress_heals_it(attribute: str, value: dict[str, str]) -> None:
    """The item is deleted and the message comes again: the object begins again, and is hashed."""
    chain, created = started()
    chain.deliver(chain.messages.popleft())
    changed(chain, **{attribute: value})
    with pytest.raises(DamagedProgress, match="delete it, then redrive the message"):
        chain.run()
    [key] = (key for key in chain.dynamodb.items if key[0] == PARTITION)
    del chain.dynamodb.items[key]
    chain.messages.append(slice_at(created, 1024))
    chain.run()
    assert chain.recorded(created).sha1 == sha1_of(CONTENT)
    assert chain.in_progress() == []


def slice_at(created: ObjectCreated, offset: int) -> str:
    """The message of the slice of *created* at *offset*."""
    return body_of(replace(progress_of(Job(created)), offset=offset))


def test_a_row_that_never_was_is_not_waited_for() -> None:
    """Another program names a row to replace: without such a row, the digest is recorded."""
    chain, created = started()
    changed(chain, replaces_etag={"S": "never-was"})
    chain.run()
    assert chain.recorded(created).sha1 == sha1_of(CONTENT)


def test_a_late_message_of_a_hashed_object_reads_nothing() -> None:
    """Its row is there, so it does not begin again."""
    chain, created = started()
    chain.run()
    chain.reads.clear()
    chain.deliver(slice_at(created, 1024))
    assert chain.reports[-1].outcome is SliceOutcome.SUPERFLUOUS
    assert chain.reads == []
    assert chain.in_progress() == []


def test_a_beginning_without_its_message_is_sent_again() -> None:
    """A worker that begins an object again dies before it sends: the next receive sends."""
    chain, created = started()
    chain.messages.clear()
    changed(chain)
    chain.progress_table.begin(progress_of(Job(created)))
    chain.deliver(slice_at(created, 1024))
    chain.run()
    assert chain.recorded(created).sha1 == sha1_of(CONTENT)
