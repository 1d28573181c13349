"""The commands print the JSON documents that docs/reference/json.md and its schema describe."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Final

import click
import pytest
from jsonschema import Draft202012Validator as Validator
from tests.cli import test_delete
from tests.cli.aws_calls import HEALTHY, answered, change_calls
from tests.cli.conftest import Run
from tests.cli.deployed import (
    HALF,
    dead_letter,
    put_and_record,
    put_object,
    record_archive,
    unreadable,
)
from tests.support.events import notification
from tools.reference.documents import schema_of

from bucketsum.backfill.backfill_records import Backfill, BackfillStatus, Tally
from bucketsum.prices import prices_in
from bucketsum_cli.arguments.options import json_option
from bucketsum_cli.aws import stack_changes
from bucketsum_cli.aws.stack import Stack
from bucketsum_cli.backfill.counting import Count
from bucketsum_cli.backfill.estimate import Setup, estimate_of
from bucketsum_cli.backfill.estimate_views import estimate_document
from bucketsum_cli.backfill.progress import RecordedProgress
from bucketsum_cli.backfill.views import progress_document
from bucketsum_cli.backfill.work import Work
from bucketsum_cli.commands.backfill.beginning import StartedBackfill
from bucketsum_cli.commands.local import demonstration
from bucketsum_cli.commands.root import cli
from bucketsum_cli.emulator.emulator_state import LocalProject
from bucketsum_cli.terminal.documents import iso_text, json_text

ISO: Final = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z")


@cache
def schema_of_all() -> dict[str, Any]:
    """The schema of all commands, all of which it imports."""
    return schema_of(cli)


def checked(command: str, document: Any) -> Any:  # noqa: ANN401 - any JSON value
    """Return *document* if it is one that the schema has for the command."""
    schema = schema_of_all()["commands"][f"bucketsum {command}"]
    Validator.check_schema(schema)
    Validator(schema | definitions()).validate(json.loads(json_text(document)))
    return document


@cache
def definitions() -> dict[str, Any]:
    """The definitions in the schemas of all commands; their check takes half a second."""
    shared = {"$defs": schema_of_all()["$defs"]}
    Validator.check_schema(shared)
    return shared


def times_in(document: Any) -> Iterator[tuple[str, Any]]:  # noqa: ANN401 - any JSON value
    """Each time in a document with its name, however deep."""
    if isinstance(document, list):
        for item in document:
            yield from times_in(item)
    elif isinstance(document, dict):
        for name, value in document.items():
            if name.endswith("_at"):
                yield name, value
            yield from times_in(value)


@pytest.fixture
def documents(run: Run, stack: Stack, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """A document of each command that shows objects, with something in every array."""
    (tmp_path / "hashed").write_bytes(b"a")
    (tmp_path / "absent").symlink_to("nowhere")
    paths = (tmp_path / "hashed", tmp_path / "absent")
    sha1 = put_and_record(stack, "hashed", b"a").sha1
    stack.digests_table().record(unreadable(put_object(stack, "locked", b"z"), b"z", "denied"))
    record_archive(stack, {"x": b"x"})
    dead_letter(stack, json.dumps(notification()), reason="why")
    monkeypatch.setattr(stack_changes, "_POLL_SECONDS", 0)
    test_delete.deploy()
    stack.progress_table().begin(HALF)
    change_calls(monkeypatch, answered(HEALTHY))
    stack.client("s3").create_bucket(Bucket="photos")
    commands: list[tuple[object, ...]] = [
        ("put", *paths, "--timeout", 0), ("ls",), ("ls", "--members", "a.zip"), ("show", "hashed"),
        ("find", sha1), ("check", *paths), ("check", paths[0], "--archive", "a.zip"),
        ("failures",), ("status",), ("selftest", "--only", "mappings", "--yes"),
        ("show", "big"), ("stop", "big"),
        ("redrive", "--yes"), ("redrive", "--key", "locked"),
        ("buckets",), ("attach", "photos", "--dry-run"),
        ("delete", "--stack", test_delete.NAME, "--yes"),
    ]  # fmt: skip
    return [checked(str(name), run(name, *rest, "--json").document) for name, *rest in commands]


@pytest.fixture
def local_documents(
    run: Run,
    project: LocalProject,
    running_emulator: Any,  # noqa: ANN401 - in place of a stack
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> list[Any]:
    """The documents of `bucketsum local`; nothing is started."""
    documents = [checked("local status", run("local", "status", "--json").document)]
    monkeypatch.setattr("bucketsum_cli.emulator.process.lives", lambda _pid, _home: False)
    documents.append(checked("local down", run("local", "down", "--json").document))
    monkeypatch.setattr(demonstration, "gather", lambda folder: folder.mkdir(parents=True))
    monkeypatch.setattr(demonstration, "files_under", lambda _folders: SimpleNamespace(files=[]))
    monkeypatch.setattr(demonstration, "put_and_wait", lambda _stack, _files, _seconds: ([], []))
    demonstration.run_demo(project, running_emulator, as_json=True)
    return [*documents, checked("local demo", json.loads(capsys.readouterr().out))]


def backfill_documents() -> list[Any]:
    """The documents of `bucketsum backfill`."""
    work = Work(object_count=1, size_bytes=1)
    estimate = estimate_of(work, Setup(256, 10, 10), prices_in("us-east-1", "arm64"))
    run = Backfill("id", "photos", BackfillStatus.RUNNING, "2026-11-21T10:00:00.000+00:00")
    progress = RecordedProgress(run, (), Work(0, 0), Tally(), False, None, 0.0, 1.0)
    count = Count(work, "as given", is_exact=False)
    shown = progress_document(progress)
    return [
        checked("backfill start", StartedBackfill("id", estimate_document(count, estimate), shown)),
        checked("backfill show", shown),
    ]


def test_every_document_is_as_its_schema_says(
    documents: list[Any], local_documents: list[Any]
) -> None:
    """A field that a type does not have, or of another type, fails here; times have one format."""
    printed = [*documents, *local_documents, *backfill_documents()]
    assert len(printed) == len(documents) + 5
    times = list(times_in(json.loads(json_text(printed))))
    assert all(value is None or ISO.fullmatch(value) for _, value in times)
    assert {"created_at", "recorded_at", "sent_at", "checked_at", "started_at"} <= {*dict(times)}


def test_a_field_without_a_meaning_is_refused() -> None:
    """`make reference` cannot write a page that leaves a field out."""

    @dataclass
    class Unexplained:
        riddle: str

    @click.command()
    @json_option(Unexplained)
    def command() -> None: ...

    with pytest.raises(ValueError, match="riddle"):
        schema_of(command)


def test_times_have_one_format() -> None:
    """A program parses one format, although AWS and the table have several."""
    assert iso_text(datetime(2026, 11, 21, 10, tzinfo=UTC)) == "2026-11-21T10:00:00.000Z"
    assert iso_text("2026-11-21T10:00:00.123456+01:00") == "2026-11-21T09:00:00.123Z"
    assert iso_text("yesterday") == "yesterday"
    assert iso_text("9999-12-31T23:59:59-12:00") == "9999-12-31T23:59:59-12:00"
