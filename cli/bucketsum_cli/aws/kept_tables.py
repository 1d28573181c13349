"""The tables that outlive a stack, found by their names: CloudFormation forgets a deleted stack."""

from __future__ import annotations

from contextlib import suppress
from typing import Any, Final

from botocore.exceptions import ClientError

from bucketsum_cli.aws.connection import Connection
from bucketsum_cli.aws.stack import Stack
from bucketsum_cli.terminal.output import note

TABLES: Final = ("DigestsTable", "BackfillsTable", "MeasurementsTable")
"""Logical ids of the tables that stay when a stack is deleted."""


def kept_tables(connection: Connection, name: str) -> Stack | None:
    """The stack *name* with nothing but its tables; None if neither rows nor reports are left.

    Of several deleted stacks of this name, the newest tables; notes those that are older.
    """
    dynamodb = connection.client("dynamodb")
    pages, names = dynamodb.get_paginator("list_tables").paginate(), []
    with suppress(ClientError):  # who may not list them has perhaps named another stack
        names = [table for page in pages for table in page["TableNames"]]
    outputs: dict[str, str] = {}
    for kind in TABLES:
        created: dict[str, Any] = {
            table: dynamodb.describe_table(TableName=table)["Table"]["CreationDateTime"]
            for table in names
            if table.startswith(f"{name}-{kind}-")
        }
        newest_first = sorted(created, key=created.__getitem__, reverse=True)
        outputs |= {f"{kind}Name": table for table in newest_first[:1]}
        for older in newest_first[1:]:
            note(f"left out {older}, of an earlier stack")
    if not {"DigestsTableName", "BackfillsTableName"} <= outputs.keys():
        return None
    note(f"the stack {name} is deleted; these are its tables {', '.join(outputs.values())}")
    return Stack(name, connection, "", outputs["DigestsTableName"], "", "", "", "", outputs)
