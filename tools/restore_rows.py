"""`python -m tools.restore_rows FROM TO`: copy rows that a digests table lacks from a restored one.

A row that is there stays as it is, so new events may arrive in the meantime.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import boto3
import click

from bucketsum.long_objects.progress import PARTITION

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient


def restore_rows(dynamodb: DynamoDBClient, source: str, target: str) -> Counter[str]:
    """Copy the rows of *source* that *target* lacks; returns the numbers by what was done.

    The progress of long objects is left out: their slices have gone on since.
    """
    done = Counter[str]()
    for page in dynamodb.get_paginator("scan").paginate(TableName=source):
        for item in page["Items"]:
            if item["object"]["S"] == PARTITION:
                continue
            try:
                dynamodb.put_item(
                    TableName=target,
                    Item=item,
                    ConditionExpression="attribute_not_exists(#object)",
                    ExpressionAttributeNames={"#object": "object"},
                )
                done["copied"] += 1
            except dynamodb.exceptions.ConditionalCheckFailedException:
                done["kept"] += 1
    return done


@click.command()
@click.argument("source")
@click.argument("target")
def main(source: str, target: str) -> None:
    """Copy the rows that the table TARGET lacks from the restored table SOURCE."""
    done = restore_rows(boto3.client("dynamodb"), source, target)
    click.echo(f"{done['copied']} rows copied, {done['kept']} were there")


if __name__ == "__main__":
    main()
