"""docs/pictures/session.svg: a session of `find` and `check` on a terminal.

The calls are real, against moto's S3, DynamoDB and SQS.
"""

import hashlib
import json
import os
import random
import re
from collections.abc import Iterator, Sequence
from contextlib import chdir
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final
from unittest.mock import patch
from xml.sax.saxutils import escape

import boto3
from click.testing import CliRunner
from moto import mock_aws

from bucketsum.archives.member_rows import MemberRows, member_entry
from bucketsum.table.archive_settings import Mode
from bucketsum.table.archive_status import ArchiveStatus
from bucketsum.table.digests_table import DigestsTable
from bucketsum.table.row_parts import ArchiveRecord, MemberRecord, Timing
from bucketsum.table.rows import Row, Status
from bucketsum_cli.buckets.served_buckets import AttachedBucket, access_stack_name, metadata_of
from bucketsum_cli.commands.root import cli
from bucketsum_cli.dead_letters import queue
from bucketsum_cli.terminal.screen import folded
from tools.pictures.drawing import MONOSPACE, WIDTH, drawing
from tools.reference.template import template

_COLUMNS: Final = 60
_BUCKET: Final = "my-photos"
_REGION: Final = "us-east-1"
_SIZES: Final = {"cat.jpg": 2_400_000, "pier2.jpg": 3_500_000, "pier.jpg": 3_500_000}
_CALLS: Final = (
    ("find pier.jpg --bucket my-photos", ("find", "pier.jpg", "--bucket", _BUCKET)),
    ("check *.jpg --bucket my-photos", ("check", *_SIZES, "--bucket", _BUCKET)),
)
"""The typed text, and the arguments that a shell makes of it."""

_MARGIN: Final = 14
_LINE: Final = 25
_COLUMN: Final = (WIDTH - 2 * _MARGIN) / _COLUMNS
_PROMPT: Final = "$ "
_CODE: Final = re.compile(r"\x1b\[(\d+)m")
_CLASSES: Final = {"0": "", "1": "bold", "31": "bad", "32": "good"}
"""ANSI code → its class; 0 ends all others."""

_STYLE: Final = f"""\
text {{ font-family: {MONOSPACE}; font-size: 17px; white-space: pre; fill: var(--ink) }}
rect {{ fill: var(--panel); stroke: var(--note) }}
.bold, .typed {{ font-weight: 600 }} .good {{ fill: var(--good) }} .bad {{ fill: var(--bad) }}
.typed {{ fill: var(--own) }}"""

_STACK: Final = "bucketsum"
_SEQUENCER: Final = "01"


def session() -> list[str]:
    """Return the lines of the terminal, with ANSI colours."""
    keys = {"AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "test"}
    with (
        TemporaryDirectory() as folder,
        chdir(folder),
        patch.dict(os.environ, keys | {"AWS_DEFAULT_REGION": _REGION}, clear=True),
        patch.object(queue, "_POLL_SECONDS", 0),
        mock_aws(),
    ):
        _deploy()
        _fill()
        blocks = [[f"$ bucketsum {typed}", *_lines(arguments)] for typed, arguments in _CALLS]
    return [line for block in blocks for line in ("", *block)][1:]


def _deploy() -> None:
    """Create a table, a queue and a bucket, and stacks whose outputs and metadata name them."""
    properties: dict[str, Any] = template()["Resources"]["DigestsTable"]["Properties"]
    names = ("AttributeDefinitions", "BillingMode", "GlobalSecondaryIndexes", "KeySchema")
    table = {name: properties[name] for name in names}
    boto3.client("dynamodb").create_table(TableName=_STACK, **table)
    letters = boto3.client("sqs").create_queue(QueueName=_STACK)["QueueUrl"]
    boto3.client("s3").create_bucket(Bucket=_BUCKET)
    outputs = {"DigestsTableName": _STACK, "DeadLetterQueueUrl": letters}
    names = ("BucketName", "ArrivalsQueueUrl", "HasherFunctionName", "HasherLogGroupName")
    described = dict.fromkeys(names, "unused") | outputs
    queue_only = {"Any": {"Type": "AWS::SQS::Queue"}}
    stacks: dict[str, dict[str, Any]] = {
        _STACK: {"Outputs": {name: {"Value": value} for name, value in described.items()}},
        access_stack_name(_STACK): {"Metadata": metadata_of([AttachedBucket(_BUCKET)])},
    }
    for name, document in stacks.items():
        boto3.client("cloudformation").create_stack(
            StackName=name, TemplateBody=json.dumps({"Resources": queue_only, **document})
        )


def _fill() -> None:
    """Put the files and an archive, and their rows; then change a file."""
    contents = {name: random.Random(name[:4]).randbytes(size) for name, size in _SIZES.items()}  # noqa: S311 - no secret
    dynamodb, s3 = boto3.client("dynamodb"), boto3.client("s3")
    table = DigestsTable(dynamodb, _STACK, 0)
    for name, content in contents.items():
        Path(name).write_bytes(content)
        s3.put_object(Bucket=_BUCKET, Key=name, Body=content)
        table.record(_row(name, "null", content))
    with Path("cat.jpg").open("ab") as file:
        file.write(b"damage")
    s3.put_object(Bucket=_BUCKET, Key="2026.zip", Body=b"zip")
    path = "pier.jpg"
    member = _row("2026.zip", member_entry("null", _SEQUENCER, path), contents[path])
    with MemberRows(dynamodb, _STACK).writer() as writer:
        writer.put(replace(member, member=MemberRecord(path, "deflate", "00000000", 1)))
    read = ArchiveRecord(ArchiveStatus.READ, Mode.STREAM, 1, 0, 0, 1, 0.5)
    table.record(replace(_row("2026.zip", "null", b"zip"), archive=read))


def _row(key: str, entry: str, content: bytes) -> Row:
    return Row(
        bucket=_BUCKET,
        key=key,
        entry=entry,
        size_bytes=len(content),
        sequencer=_SEQUENCER,
        arrived_at="2026-11-23T07:06:33.000Z",
        recorded_at="2026-11-23T07:06:34.250000+00:00",
        status=Status.HASHED,
        sha1=hashlib.sha1(content).hexdigest(),
        etag=hashlib.md5(content).hexdigest(),
        timing=Timing(1000.0, 12.5),
    )


def _lines(arguments: Sequence[str]) -> list[str]:
    """Return the output on a terminal, and below it the notes, which go to stderr."""
    runner = CliRunner(mix_stderr=False)
    on_terminal = {"FORCE_COLOR": "1", "TERM": "xterm-256color", "COLUMNS": str(_COLUMNS)}
    shown = runner.invoke(cli, arguments, env=on_terminal, color=True, catch_exceptions=False)
    piped = runner.invoke(cli, arguments, catch_exceptions=False)
    notes = [
        line for note in piped.stderr.splitlines() for line in folded(note, _COLUMNS, breaks=False)
    ]
    return [*shown.stdout.splitlines(), *notes]


def terminal(lines: Sequence[str]) -> str:
    """Return the picture of *lines*."""
    height = 2 * _MARGIN + _LINE * len(lines)
    return drawing(
        "bucketsum find and bucketsum check on a terminal",
        " / ".join(_CODE.sub("", line) for line in lines if line),
        height,
        _STYLE,
        f'<rect x="0.5" y="0.5" width="{WIDTH - 1}" height="{height - 1}" rx="8"/>',
        *(_text(number, line) for number, line in enumerate(lines) if line),
    )


def _text(number: int, line: str) -> str:
    """Return a line; its length is set, so that columns are aligned in every font."""
    spans = [("typed", line)] if line.startswith(_PROMPT) else _spans(line)
    parts = (
        f'<tspan class="{names}">{escape(text)}</tspan>' if names else escape(text)
        for names, text in spans
    )
    length = len(_CODE.sub("", line)) * _COLUMN
    y = _MARGIN + _LINE * number + 18
    return f'<text x="{_MARGIN}" y="{y}" textLength="{length:.1f}">{"".join(parts)}</text>'


def _spans(line: str) -> Iterator[tuple[str, str]]:
    """Yield each piece of *line* with its classes."""
    classes: list[str] = []
    texts = _CODE.split(line)
    for text, code in zip(texts[::2], ["0", *texts[1::2]], strict=True):
        classes = [*classes, _CLASSES[code]] if _CLASSES[code] else []
        if text:
            yield " ".join(classes), text
