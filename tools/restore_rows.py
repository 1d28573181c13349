"""`python -m tools.restore_rows FROM TO`: copy rows that a digests table lacks from a restored one.

A row that is there stays as it is, so new events may arrive in the meantime.
"""

from __future__ import annotations

from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import TYPE_CHECKING, Any, Final

import boto3
import click
from botocore.config import Config

from bucketsum.long_objects.progress import PARTITION
from bucketsum.table.digests_table import DigestsTable
from bucketsum.table.items import row_key_in

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

SEGMENTS: Final = 32
"""Parts of the table, each with a thread that scans it and writes what is missing."""


def restore_rows(dynamodb: DynamoDBClient, source: str, target: str) -> Counter[str]:
    """Copy the rows of *source* that *target* lacks; returns the numbers by what was done.

    The progress of long objects is left out: their slices have gone on since.
    """
    with ThreadPoolExecutor(SEGMENTS) as pool:
        parts = pool.map(partial(_restore_segment, dynamodb, source, target), range(SEGMENTS))
        return sum(parts, Counter[str]())


def _restore_segment(
    dynamodb: DynamoDBClient, source: str, target: str, segment: int
) -> Counter[str]:
    done = Counter[str]()
    pages = dynamodb.get_paginator("scan").paginate(
        TableName=source, Segment=segment, TotalSegments=SEGMENTS
    )
    for page in pages:
        items = [row for row in page["Items"] if row["object"]["S"] != PARTITION]
        there = DigestsTable(dynamodb, target).records_at(map(row_key_in, items))
        # a refused write would cost as much as a write
        missing = (item for item in items if row_key_in(item) not in there)
        copied = sum(_put(dynamodb, target, item) for item in missing)
        done.update(copied=copied, kept=len(items) - copied)
    return done


def _put(dynamodb: DynamoDBClient, target: str, item: dict[str, Any]) -> bool:
    """Write *item*; False if an event has recorded one meanwhile."""
    try:
        dynamodb.put_item(
            TableName=target,
            Item=item,
            ConditionExpression="attribute_not_exists(#object)",
            ExpressionAttributeNames={"#object": "object"},
        )
    except dynamodb.exceptions.ConditionalCheckFailedException:
        return False
    return True


@click.command()
@click.argument("source")
@click.argument("target")
def main(source: str, target: str) -> None:
    """Copy the rows that the table TARGET lacks from the restored table SOURCE.

    Some 1,000 rows a second are written, which the CPU of this process limits. It needs
    dynamodb:Scan on SOURCE, and dynamodb:BatchGetItem and dynamodb:PutItem on TARGET.
    """
    many = Config(max_pool_connections=SEGMENTS, retries={"mode": "standard", "max_attempts": 10})
    done = restore_rows(boto3.client("dynamodb", config=many), source, target)
    click.echo(f"rows copied: {done['copied']}; already there: {done['kept']}")


if __name__ == "__main__":
    main()
