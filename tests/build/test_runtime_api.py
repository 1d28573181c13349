"""The built hasher behind Lambda's own Runtime API, with every event of events/."""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pytest
from events import objects
from tests.build.local_aws import default_memory_mb, hasher_properties
from tests.build.runtime_api import Function, Running, running

from bucketsum.invocation.deadline import STOP_BEFORE_END_SECONDS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.build.artifacts import Built
    from tests.build.local_aws import LocalAws

EVENTS: Final = Path(objects.__file__).parent
SUCCESS: Final[dict[str, list[str]]] = {"batchItemFailures": []}

RECORDED: Final = {
    "sqs-s3-put": {objects.PUT},
    "sqs-s3-multipart": {objects.MULTIPART},
    "sqs-s3-awkward-key": {objects.AWKWARD},
    "sqs-s3-test-event": set(),
    "sqs-eventbridge": {objects.FROM_EVENTBRIDGE},
    "sqs-sns-s3": {objects.FROM_SNS},
    "sqs-malformed": set(),
    "sqs-batch": set(objects.OBJECTS),
}
DEAD_LETTERED: Final = {"sqs-malformed", "sqs-batch"}

FAST_CLOCK: Final = """
import importlib.util, time
now = time.time
time.time = lambda: now() + {ahead_seconds}
spec = importlib.util.spec_from_file_location("built", {built!r})
built = importlib.util.module_from_spec(spec)
spec.loader.exec_module(built)
lambda_handler = built.lambda_handler
"""
"""A module that runs the handler of the file *built* with a clock that is ahead."""


@pytest.fixture
def hasher(built: Built, lambda_packages: Path, local_aws: LocalAws) -> Function:
    """The built hasher, with what the template gives it."""
    return Function(
        task_root=built.function("HasherFunction"),
        search=(built.layer, lambda_packages),
        variables=local_aws.variables(),
        timeout_seconds=hasher_properties()["Timeout"],
        memory_mb=default_memory_mb(),
    )


@pytest.fixture
def invoked(hasher: Function, tmp_path: Path) -> Iterator[Running]:
    """The built hasher, waiting for invocations."""
    with running(hasher, tmp_path / "log") as function:
        yield function


def event_named(name: str, local_aws: LocalAws) -> Any:  # noqa: ANN401 - JSON
    """A committed event, with the versions that this bucket gave the objects."""
    text = (EVENTS / f"{name}.json").read_text(encoding="utf-8")
    for example in objects.OBJECTS:
        text = text.replace(example.version_id, local_aws.versions[example.key])
    return json.loads(text)


@pytest.mark.parametrize("name", sorted(path.stem for path in EVENTS.glob("sqs-*.json")))
def test_event_is_recorded(name: str, invoked: Running, local_aws: LocalAws) -> None:
    """Each object that an event names has a row with its SHA-1; what names none is kept aside."""
    assert invoked.invoke(event_named(name, local_aws)) == SUCCESS
    rows = {
        (row["object"], row["entry"], row["size_bytes"], row["sha1"]) for row in local_aws.rows()
    }
    assert rows == {
        (
            f"{objects.BUCKET}/{example.key}",
            local_aws.versions[example.key],
            str(example.size_bytes),
            hashlib.sha1(example.content, usedforsecurity=False).hexdigest(),
        )
        for example in RECORDED[name]
    }
    letters = local_aws.dead_letters()
    assert len(letters) == (name in DEAD_LETTERED)
    for letter in letters:
        assert letter["Body"] == "this is not a notification"
        reason = letter["MessageAttributes"]["bucketsum-reason"]["StringValue"]
        assert reason.startswith("MalformedMessage: not JSON")


def test_event_twice_changes_nothing(invoked: Running, local_aws: LocalAws) -> None:
    """A warm function that is given the same batch again leaves every row as it was."""
    event = event_named("sqs-batch", local_aws)
    assert invoked.invoke(event) == SUCCESS
    before = local_aws.rows()
    assert invoked.invoke(event) == SUCCESS
    assert local_aws.rows() == before


def test_message_comes_back_when_time_ends(
    hasher: Function, local_aws: LocalAws, tmp_path: Path
) -> None:
    """An invocation that is about to end gives its message back, and no other's.

    Its end is near by its own clock alone: the time-out also covers its start, which may be slow.
    """
    [test_event] = event_named("sqs-s3-test-event", local_aws)["Records"]
    [put] = event_named("sqs-s3-put", local_aws)["Records"]
    local_aws.sqs.send_message(QueueUrl=local_aws.arrivals_queue, MessageBody=put["body"])
    [received] = local_aws.sqs.receive_message(QueueUrl=local_aws.arrivals_queue)["Messages"]
    late = put | {"receiptHandle": received["ReceiptHandle"]}
    hasty_root = tmp_path / "hasty"
    hasty_root.mkdir()
    ahead_seconds = hasher.timeout_seconds - STOP_BEFORE_END_SECONDS / 2
    module = FAST_CLOCK.format(ahead_seconds=ahead_seconds, built=str(hasher.task_root / "app.py"))
    (hasty_root / "app.py").write_text(module, encoding="utf-8")
    hasty = replace(hasher, task_root=hasty_root, search=(hasher.task_root, *hasher.search))
    with running(hasty, tmp_path / "log") as function:
        answer = function.invoke({"Records": [test_event, late]})
    assert answer == {"batchItemFailures": [{"itemIdentifier": late["messageId"]}]}
    assert local_aws.rows() == local_aws.dead_letters() == []


def test_without_its_layer_it_cannot_start(
    hasher: Function, lambda_packages: Path, local_aws: LocalAws, tmp_path: Path
) -> None:
    """A function whose layer is missing fails as it would in Lambda: the import is refused."""
    bare = replace(hasher, search=(lambda_packages,))
    with running(bare, tmp_path / "log") as function:
        answer = function.invoke(event_named("sqs-s3-put", local_aws))
    assert answer["errorType"] == "Runtime.ImportModuleError"
    assert local_aws.rows() == []


def test_bad_settings_fail_before_any_message(
    hasher: Function, local_aws: LocalAws, tmp_path: Path
) -> None:
    """A chunk size that memory cannot hold fails in init, and the error says what to change."""
    greedy = replace(hasher, variables={**hasher.variables, "CHUNK_BYTES": "536870912"})
    with running(greedy, tmp_path / "log") as function:
        answer = function.invoke(event_named("sqs-s3-put", local_aws))
    assert answer["errorType"] == "BadSettings"
    assert "raise MemorySize" in answer["errorMessage"]
    assert local_aws.rows() == []
