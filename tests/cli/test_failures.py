"""`bucketsum failures`: what is in the dead-letter queue, left as it was."""

import json
from pathlib import Path

import pytest
from tests.cli.conftest import Run
from tests.cli.deployed import HOSTILE, HOSTILE_SHOWN, bodies_in, dead_letter
from tests.support.events import LANDED, TEST_EVENT, eventbridge, notification, with_field

from bucketsum_cli.aws.stack import Stack
from bucketsum_cli.dead_letters.queue import received


@pytest.mark.usefixtures("stack")
def test_an_empty_queue_is_no_failure(run: Run) -> None:
    """An empty queue is an answer."""
    assert run("failures").out == "the dead-letter queue is empty\n"
    assert run("failures", "--json").document == []


def test_message_is_shown_with_its_object_and_its_reason(run: Run, stack: Stack) -> None:
    """Who, why, since when."""
    dead_letter(stack, json.dumps(notification()), reason="SourceUnavailable: S3 throttles")
    (message,) = run("failures", "--json").document
    assert message["reason"] == "SourceUnavailable: S3 throttles"
    assert message["objects"] == [
        {"bucket": LANDED.bucket, "key": LANDED.key, "version": LANDED.version_id}
    ]
    assert message["body"] == json.dumps(notification())
    assert message["sent_at"].startswith("20")
    name, why, since, total = run("failures").out.splitlines()
    assert name == "inbox/photos/a b.jpg"
    assert why == "  SourceUnavailable: S3 throttles"
    assert since.startswith("  since 20")
    assert since.endswith(" UTC, received 2 times")
    assert total == "1 in the dead-letter queue"


def test_message_without_a_reason_says_what_that_means(run: Run, stack: Stack) -> None:
    """SQS itself moves what the function did not survive; the log group tells more."""
    dead_letter(stack, json.dumps(notification()))
    out = run("failures").out
    assert "received once" in out
    assert "the function died (time-out or out of memory), was throttled" in out
    assert stack.log_group in out
    assert run("failures", "--json").document[0]["reason"] is None


@pytest.mark.parametrize(
    ("body", "shown"),
    [
        ("not JSON " + "x" * 200, "not JSON " + "x" * 71 + "…"),
        ("[red]x[/red]\r\n\x85", r"[red]x[/red]\r\n\x85"),
        (json.dumps(TEST_EVENT)[:70], json.dumps(TEST_EVENT)[:70]),
    ],
)
def test_malformed_message_is_shown_by_how_it_begins(
    run: Run, stack: Stack, body: str, shown: str
) -> None:
    """80 characters are enough to recognise it; nothing in them acts."""
    dead_letter(stack, body, reason="MalformedMessage: not JSON")
    assert run("failures").out.splitlines()[0] == shown
    (message,) = run("failures", "--json").document
    assert (message["objects"], message["body"].strip()) == ([], body.strip())


def test_hostile_keys_and_reasons_are_shown_as_text(run: Run, stack: Stack) -> None:
    """Both come from outside."""
    body = with_field(eventbridge(), "detail.object.key", HOSTILE)
    dead_letter(stack, body, reason="Error: [blink]\u202e")
    out = run("failures").out
    assert f"inbox/{HOSTILE_SHOWN}" in out
    assert r"Error: [blink]\u202e" in out


def test_looking_leaves_every_message_there_for_all(run: Run, stack: Stack) -> None:
    """Right after a look, with nothing waited for, everyone can receive them all."""
    bodies = sorted(f"message {n}" for n in range(25))
    dead_letter(stack, *bodies, reason="reason")
    assert len(run("failures", "--json").document) == 25
    assert len(run("failures", "--json").document) == 25
    assert bodies_in(stack, stack.dead_letter_queue_url) == bodies


def test_messages_that_another_command_holds_are_counted(run: Run, stack: Stack) -> None:
    """An empty list is not an empty queue while a `redrive` waits for its answer."""
    dead_letter(stack, "message 1", "message 2")
    with received(stack, 10, 600):
        ended = run("failures")
        document = run("failures", "--json")
    assert ended.out == "0 in the dead-letter queue\n"
    assert "about 2 more are hidden now" in ended.err
    assert (document.document, "about 2 more are hidden now" in document.err) == ([], True)
    assert "hidden" not in run("failures").err


MALFORMED = json.dumps(notification() | {"eventVersion": "9.0"})[:-1]


def test_a_message_that_nothing_can_fix_is_discarded(run: Run, stack: Stack) -> None:
    """A file keeps it; one that names an object stays, and then `status` is content."""
    dead_letter(stack, MALFORMED, "nonsense", json.dumps(notification()), reason="MalformedMessage")
    assert "failures --discard" in run("failures").err
    declined = run("failures", "--discard", answer="n\n")
    assert (declined.status, "nothing was deleted" in declined.err) == (1, True)
    result = run("failures", "--discard", "--yes", "--json").document
    assert {message["body"] for message in result["discarded"]} == {MALFORMED, "nonsense"}
    assert json.loads(Path(result["file"]).read_text()) == result["discarded"]
    (left,) = run("failures", "--json").document
    assert left["objects"]
    again = run("failures", "--discard", "--yes")
    assert (again.status, again.out) == (0, "nothing was discarded\n")
    assert "1 message left: `bucketsum redrive` tries them again" in " ".join(again.err.split())
    assert run("failures", "--discard", "--all", "--yes").out == "1 discarded\n"
    assert bodies_in(stack, stack.dead_letter_queue_url) == []
    run("failures", "--all").assert_refused("--all needs --discard")


def test_a_file_that_cannot_be_written_keeps_the_messages(
    run: Run, stack: Stack, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Nothing is deleted that is nowhere else."""
    (tmp_path / "file").touch()
    monkeypatch.setenv("BUCKETSUM_HOME", str(tmp_path / "file"))
    dead_letter(stack, "nonsense")
    assert run("failures", "--discard", "--yes").status == 2
    assert bodies_in(stack, stack.dead_letter_queue_url) == ["nonsense"]


def test_limit_is_kept_and_told(run: Run, stack: Stack) -> None:
    """More than were asked for may be there."""
    dead_letter(stack, *(f"message {n}" for n in range(12)))
    ended = run("failures", "--limit", 11, "--json")
    assert len(ended.document) == 11
    assert "raise --limit" in ended.err
    assert len(bodies_in(stack, stack.dead_letter_queue_url)) == 12
