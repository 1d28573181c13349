"""The built hasher behind Lambda's own Runtime API, with every event of events/."""

import hashlib
import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import pytest
from events import objects
from tests.build.artifacts import Built
from tests.build.local_aws import LocalAws, default_memory_mb, hasher_properties
from tests.build.runtime_api import Function, Running, running

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
