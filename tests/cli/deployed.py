"""A stack in moto as template.yaml describes it, and a hasher that answers at once."""

import hashlib
import io
import json
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, Final

import tests.support.moto_cloudformation  # noqa: F401 - so that `library_caches` finds it
from moto.core.models import DEFAULT_ACCOUNT_ID
from moto.s3.models import s3_backends
from tests.cli.permissions import as_fake
from tests.support.clients import shared_client
from tests.support.sam_template import create_table, load_template

from bucketsum.archives.member_rows import MemberRows, member_entry
from bucketsum.events.object_events import DeletedBy, ObjectDeleted
from bucketsum.hashing import deletions
from bucketsum.invocation.deadline import Deadline
from bucketsum.long_objects.progress import Progress
from bucketsum.queue.dead_letters import REASON_ATTRIBUTE
from bucketsum.table.archive_settings import Mode
from bucketsum.table.archive_status import ArchiveStatus
from bucketsum.table.digests_table import DigestsTable
from bucketsum.table.items import item_of
from bucketsum.table.outcome import Outcome
from bucketsum.table.row_parts import ArchiveRecord, MemberRecord, Timing
from bucketsum.table.rows import Row, RowKey, Status
from bucketsum_cli.aws.stack import Stack
from bucketsum_cli.buckets.served_buckets import INVENTORY_PARAMETER

_TEMPLATE: Final = load_template()

NAME: Final = "bucketsum"
BUCKET: Final = "inbox"

HOSTILE: Final = "a [red]b[/red] +%20 é\x9b31m\u202egpj.exe"
"""A key with markup, an encoded space, a terminal's escape in one character, and text that runs
backwards. XML, and so moto's listing, takes no other control characters."""

HOSTILE_SHOWN: Final = r"a [red]b[/red] +%20 é\x9b31m\u202egpj.exe"


class Stdin(io.BytesIO):
    """The standard input of a command; a terminal if `is_terminal` is set."""

    is_terminal = False

    def isatty(self) -> bool:
        """Whether somebody types."""
        return self.is_terminal


def deploy(endpoint: str | None = None, *, sweeps: bool = False) -> None:
    """Make the bucket, the queues, two tables, and the stack whose outputs name them."""
    s3 = shared_client("s3", endpoint)
    s3.create_bucket(Bucket=BUCKET)
    s3.put_bucket_versioning(Bucket=BUCKET, VersioningConfiguration={"Status": "Enabled"})
    create_table(shared_client("dynamodb", endpoint), "DigestsTable", "digests")
    create_table(shared_client("dynamodb", endpoint), "BackfillsTable", "BackfillsTableName")
    sqs = shared_client("sqs", endpoint)
    outputs = {
        "BucketName": BUCKET,
        "DigestsTableName": "digests",
        "ArrivalsQueueUrl": sqs.create_queue(QueueName="arrivals")["QueueUrl"],
        "ArrivalsQueueArn": "arn:aws:sqs:us-east-1:123456789012:arrivals",
        "BackfillQueueUrl": sqs.create_queue(QueueName="backfill")["QueueUrl"],
        "LongObjectsQueueUrl": sqs.create_queue(QueueName="long-objects")["QueueUrl"],
        "DeadLetterQueueUrl": sqs.create_queue(QueueName="dead-letters")["QueueUrl"],
    }
    wanted = (
        name
        for name, output in _TEMPLATE["Outputs"].items()
        if sweeps or output.get("Condition") != "HasSweeps"
    )
    publish({name: outputs.get(name, name) for name in wanted}, endpoint)


def deploy_with_sweeps() -> None:
    """Make the same with the stack's outputs about sweeps."""
    deploy(sweeps=True)


def publish(outputs: dict[str, str], endpoint: str | None = None) -> None:
    """Make a CloudFormation stack with *outputs*, and the parameters that commands read."""
    names = (
        "Sha1Index", "BatchSize", "BackfillConcurrency", "MemorySize", "ChunkBytes", "Streams",
        "ArchiveMode", "ExtraAlgorithms", INVENTORY_PARAMETER,
    )  # fmt: skip
    template = {
        "Parameters": {name: _TEMPLATE["Parameters"][name] for name in names},
        "Resources": {"Any": {"Type": "AWS::SQS::Queue"}},
        "Outputs": {name: {"Value": value} for name, value in outputs.items()},
    }
    shared_client("cloudformation", endpoint).create_stack(
        StackName=NAME,
        TemplateBody=json.dumps(template),
        Parameters=[
            {"ParameterKey": INVENTORY_PARAMETER, "ParameterValue": f"arn:aws:s3:::{BUCKET}"},
            {"ParameterKey": "ExtraAlgorithms", "ParameterValue": "sha256"},
        ],
    )


def put_object(stack: Stack, key: str, content: bytes) -> RowKey:
    """Put an object that nothing is recorded of yet."""
    answer = stack.client("s3").put_object(Bucket=stack.bucket, Key=key, Body=content)
    return RowKey(stack.bucket, key, answer.get("VersionId", "null"))


def hashed(place: RowKey, content: bytes, sequencer: str = "01", **facts: Any) -> Row:  # noqa: ANN401 - fields of Row
    """The row that the hasher records for *content*."""
    known: dict[str, Any] = {
        "status": Status.HASHED,
        "sha1": hashlib.sha1(content).hexdigest(),
        "etag": hashlib.md5(content).hexdigest(),
        "timing": Timing(1000.0, 12.5),
    }
    return _row(place, content, sequencer, known | facts)


def record_deletion(stack: Stack, row: Row | RowKey, sequencer: str = "0F") -> None:
    """Record that S3 deleted the version of *row*; the object stays in the bucket."""
    deleted = ObjectDeleted(
        bucket=row.bucket,
        key=row.key,
        version_id=row.entry,
        is_marker=False,
        deleted_by=DeletedBy.REQUEST,
        sequencer=sequencer,
        event_time="2026-11-21T03:04:05.000Z",
    )
    table = DigestsTable(stack.client("dynamodb"), stack.table)
    result = deletions.record_deletion(deleted, table, Deadline(lambda: 900.0))
    assert result.outcome is Outcome.DELETED


def unreadable(place: RowKey, content: bytes, reason: str, sequencer: str = "01") -> Row:
    """The row that the hasher records for an object that S3 does not let it read."""
    known = {"status": Status.UNREADABLE, "reason": reason}
    return _row(place, content, sequencer, {**known, "etag": hashlib.md5(content).hexdigest()})


def _row(place: RowKey, content: bytes, sequencer: str, facts: dict[str, Any]) -> Row:
    return Row(
        bucket=place.bucket,
        key=place.key,
        entry=place.entry,
        size_bytes=len(content),
        sequencer=sequencer,
        arrived_at="2026-11-20T10:00:00.000Z",
        recorded_at="2026-11-20T10:00:01.250000+00:00",
        **facts,
    )


def put_and_record(stack: Stack, key: str, content: bytes, sequencer: str = "01") -> Row:
    """Put an object and record its digest, as the whole path does."""
    row = hashed(put_object(stack, key, content), content, sequencer)
    stack.digests_table().record(row)
    return row


def put_and_record_all(stack: Stack, contents: Mapping[str, bytes], **facts: Any) -> None:  # noqa: ANN401 - as above
    """Do it for all *contents*, past the clients, which take 50 times as long."""
    s3, digests = s3_backends[DEFAULT_ACCOUNT_ID]["aws"], ("sha256", "md5")
    items = []
    for key, content in contents.items():
        place = RowKey(stack.bucket, key, s3.put_object(stack.bucket, key, content).version_id)
        known = {name: hashlib.new(name, content).hexdigest() for name in digests}
        items.append(item_of(replace(hashed(place, content, digests=known), **facts)))
    dynamodb = stack.client("dynamodb")
    for begin in range(0, len(items), 25):
        puts: Any = [{"PutRequest": {"Item": item}} for item in items[begin : begin + 25]]
        dynamodb.batch_write_item(RequestItems={stack.table: puts})


READ = ArchiveRecord(ArchiveStatus.READ, Mode.STREAM, 2, 0, 0, 2, 0.5)


def member(path: str) -> MemberRecord:
    """A member as its archive's central directory describes it."""
    return MemberRecord(path, "deflate", "00000000", 1)


def record_archive(
    stack: Stack,
    members: dict[str, bytes],
    sequencer: str = "01",
    *,
    lost: int = 0,
    **facts: Any,  # noqa: ANN401 - fields of Row
) -> str:
    """Put a.zip and record its members, but for those that are *lost*; returns its version."""
    record = replace(READ, members=len(members) + lost)
    row = hashed(put_object(stack, "a.zip", b"zip"), b"zip", sequencer, archive=record)
    version = row.entry
    with MemberRows(stack.client("dynamodb"), stack.table).writer() as writer:
        for path, content in members.items():
            row_key = RowKey(BUCKET, "a.zip", member_entry(version, sequencer, path))
            writer.put(hashed(row_key, content, sequencer, member=member(path)))
    stack.digests_table().record(replace(row, **facts))
    return version


class PromptTable(DigestsTable):
    """A digests table whose hasher has always just finished the requested objects."""

    def __init__(self, stack: Stack) -> None:
        super().__init__(stack.client("dynamodb"), stack.table)
        self._s3 = stack.client("s3")

    def rows_at(self, row_keys: Iterable[RowKey]) -> dict[RowKey, Row]:
        """Hash the objects of *row_keys*, then look."""
        wanted = list(row_keys)
        with as_fake():
            for row_key in wanted:
                bucket, key, version = row_key.bucket, row_key.key, row_key.entry
                answer = self._s3.get_object(Bucket=bucket, Key=key, VersionId=version)
                etag = answer["ETag"].strip('"')
                self.record(hashed(row_key, answer["Body"].read(), etag=etag))
        return super().rows_at(wanted)


def prompt_table(stack: Stack) -> DigestsTable:
    """A `PromptTable` in the place of `Stack.digests_table`."""
    return PromptTable(stack)


def dead_letter(stack: Stack, *bodies: str, reason: str | None = None) -> None:
    """Put messages into the dead-letter queue: the hasher gives a reason, SQS itself none."""
    attributes: Any = (
        {REASON_ATTRIBUTE: {"DataType": "String", "StringValue": reason}} if reason else {}
    )
    sqs = stack.client("sqs")
    for body in bodies:
        sqs.send_message(
            QueueUrl=stack.dead_letter_queue_url, MessageBody=body, MessageAttributes=attributes
        )


def bodies_in(stack: Stack, queue_url: str) -> list[str]:
    """The messages that anybody can receive from a queue right now; they are gone afterwards."""
    sqs = stack.client("sqs")
    bodies = []
    while messages := sqs.receive_message(QueueUrl=queue_url, MaxNumberOfMessages=10).get(
        "Messages"
    ):
        bodies += [message["Body"] for message in messages]
    return sorted(bodies)


HALF: Final = Progress(
    bucket=BUCKET,
    key="big",
    version="null",
    etag="an-etag",
    size_bytes=5_000_000_000_000,
    sequencer="01",
    arrived_at="2026-11-20T10:00:00.000Z",
    started_at="2026-11-20T10:00:01.000Z",
    updated_at="2026-11-20T11:00:00.000Z",
    offset=312_000_000_000,
    hop=5,
    mb_per_s=78.0,
)
"""A long object of which five slices are hashed."""


def change(
    stack: Stack,
    key: dict[str, Any],
    name: str,
    value: dict[str, Any] | None,
    table: str = "",
) -> None:
    """Let another program set an attribute, or remove it."""
    client: Any = stack.client("dynamodb")
    request: dict[str, Any] = {"UpdateExpression": "REMOVE #name"}
    if value:
        request = {
            "UpdateExpression": "SET #name = :value",
            "ExpressionAttributeValues": {":value": value},
        }
    client.update_item(
        TableName=table or stack.table, Key=key, ExpressionAttributeNames={"#name": name}, **request
    )
