"""Both tables in memory and S3's answers, for runs whose invocations may end at each call."""

from collections import defaultdict
from collections.abc import Callable, Iterator
from random import Random
from typing import Any

from botocore.exceptions import ClientError
from tests.simulation.dynamodb_model import BACKFILLS, DIGESTS, KEYS
from tests.support.dynamodb_fake import Change, Item, Writes
from tests.support.expressions import check_failed, holds


class Tables(Writes):
    """Both tables, and S3: each call is one at which the invocation may end."""

    def __init__(self, random: Random, interrupt: Callable[[], None]) -> None:
        self.items: dict[str, dict[tuple[str, str], Item]] = {BACKFILLS: {}, DIGESTS: {}}
        self.classes: dict[tuple[str, str, str], str] = {}
        self.files: dict[str, bytes] = {}
        self.writes = 0
        self._names: dict[tuple[str, str], set[str]] = defaultdict(set)
        self._random, self._interrupt = random, interrupt

    def put(self, table: str, key: tuple[str, str], item: Item) -> None:
        """Write an item, whatever is there."""
        self.writes += 1
        self.items[table][key] = item
        self._names[table, key[0]].add(key[1])

    def write(self, operation: str, request: Item, key_item: Item, change: Change) -> Item | None:
        """Change an item; the invocation may end before it, or after it."""
        self._interrupt()
        table = request["TableName"]
        key = self._key(table, key_item)
        before = self.items[table].get(key)
        if not holds(request, before):
            raise check_failed(operation, before)
        after = change(before)
        assert after
        self.put(table, key, after)
        self._interrupt()
        return after

    def get_item(self, **request: Any) -> dict[str, Any]:  # noqa: ANN401 - as botocore's
        """See DynamoDB's GetItem."""
        self._interrupt()
        table = request["TableName"]
        item = self.items[table].get(self._key(table, request["Key"]))
        return {"Item": item} if item else {}

    def paginate(self, **request: Any) -> Iterator[dict[str, Any]]:  # noqa: ANN401 - as botocore's
        """See DynamoDB's Query."""
        table, values = request["TableName"], request["ExpressionAttributeValues"]
        partition, *prefixes = (value["S"] for value in values.values())
        names, prefix = self._names[table, partition], tuple(prefixes) or ""
        mine = [self.items[table][partition, name]
                for name in sorted(names) if name.startswith(prefix)]  # fmt: skip
        yield {"Items": mine if request.get("ScanIndexForward", True) else mine[::-1]}

    def scan(self, **request: Any) -> dict[str, Any]:  # noqa: ANN401 - as botocore's
        """See DynamoDB's Scan: a page may be short, or even empty, before the end."""
        self._interrupt()
        total, number = request["TotalSegments"], request["Segment"]
        keys = sorted(k for k in self.items[DIGESTS] if len(k[0]) % total == number)
        start = request.get("ExclusiveStartKey")
        after = self._key(DIGESTS, start) if start else ("", "")
        left = [key for key in keys if key > after]
        page = left[: self._random.randint(1, request["Limit"])]
        last = {} if page == left else {"LastEvaluatedKey": item_key(page[-1])}
        return {"Items": [self.items[DIGESTS][key] for key in page], **last}

    def describe_table(self, **_: object) -> dict[str, Any]:
        """See DynamoDB's DescribeTable."""
        return {"Table": {"ItemCount": len(self.items[DIGESTS])}}

    def head_object(self, **version: str) -> dict[str, Any]:
        """See S3's HeadObject."""
        at = version["Bucket"], version["Key"], version["VersionId"]
        if at not in self.classes:
            status: Any = {"HTTPStatusCode": 404}
            raise ClientError({"Error": {"Code": "404"}, "ResponseMetadata": status}, "HeadObject")
        return {"ETag": '"e"', "StorageClass": self.classes[at]}

    def put_object(self, **request: Any) -> None:  # noqa: ANN401 - as botocore's
        """See S3's PutObject."""
        self._interrupt()
        self.files[request["Key"]] = request["Body"]

    @staticmethod
    def _key(table: str, item: Item) -> tuple[str, str]:
        partition, sort = KEYS[table]
        return item[partition]["S"], item[sort]["S"]


def item_key(key: tuple[str, str]) -> Item:
    """The key of an item of the digests table."""
    return {"object": {"S": key[0]}, "entry": {"S": key[1]}}
