"""Queries that a workgroup of Athena runs."""

from __future__ import annotations

import time
from itertools import chain
from typing import Any, Final

from bucketsum_cli.aws.connection import Connection
from bucketsum_cli.buckets.s3_place import S3Place
from bucketsum_cli.snapshots.database import Answer
from bucketsum_cli.snapshots.in_place_engine import answer_of
from bucketsum_cli.terminal.errors import CannotDoError
from bucketsum_cli.terminal.live_progress import spinner
from bucketsum_cli.terminal.output import note

_POLL_SECONDS: Final = 0.5
_LIMIT: Final = "limit"
"""Is in the reason of a query that a workgroup's limit of bytes ended."""


class AthenaQueries:
    """Queries of one workgroup.

    Attributes:
        is_enforced: Whether it alone decides where results and tables go, in its own place.
    """

    def __init__(self, aws: Connection, workgroup: str, results: S3Place) -> None:
        """Write *results* where the person wants them, unless the workgroup refuses that.

        Raises:
            CannotDoError: The workgroup is disabled.
        """
        self._athena = aws.client("athena")
        self._workgroup = workgroup
        group = self._athena.get_work_group(WorkGroup=workgroup)["WorkGroup"]
        if group.get("State") == "DISABLED":
            raise CannotDoError(f"the workgroup {workgroup} is disabled; see --workgroup")
        settings = group.get("Configuration", {})
        is_managed = settings.get("ManagedQueryResultsConfiguration", {}).get("Enabled", False)
        self.is_enforced = bool(settings.get("EnforceWorkGroupConfiguration")) and not is_managed
        self._results: dict[str, Any] = {}
        if self.is_enforced:
            place = settings.get("ResultConfiguration", {}).get("OutputLocation")
            note(f"the workgroup {workgroup} keeps what it writes in {place}; nothing deletes it")
        elif not is_managed:
            self._results = {"ResultConfiguration": {"OutputLocation": str(results)}}

    def run(self, sql: str, database: str) -> Answer:
        """Run one query; names without a database are of *database*.

        Raises:
            CannotDoError: Athena refuses it.
        """
        query, is_headed = self.execute(sql, database)
        pages = self._athena.get_paginator("get_query_results").paginate(QueryExecutionId=query)
        results = (page["ResultSet"] for page in pages)
        first = next(results)
        rows = chain(first["Rows"][is_headed:], chain.from_iterable(r["Rows"] for r in results))
        columns = [(c["Name"], c["Type"]) for c in first["ResultSetMetadata"]["ColumnInfo"]]
        texts = ([datum.get("VarCharValue") for datum in row["Data"]] for row in rows)
        return answer_of(columns, texts)

    def execute(self, sql: str, database: str) -> tuple[str, bool]:
        """Run one statement; returns its ID, and whether an answer begins with columns' names."""
        query = self._athena.start_query_execution(
            QueryString=sql,
            QueryExecutionContext={"Database": database},
            WorkGroup=self._workgroup,
            **self._results,
        )["QueryExecutionId"]
        return query, self._wait(query)

    def _wait(self, query: str) -> bool:
        """Wait for the end of *query*; returns whether its answer begins with the columns' names.

        Raises:
            CannotDoError: It failed.
        """
        try:
            with spinner("asking Athena ..."):
                while True:
                    answer = self._athena.get_query_execution(QueryExecutionId=query)
                    execution = answer["QueryExecution"]
                    if execution["Status"]["State"] not in ("QUEUED", "RUNNING"):
                        break
                    time.sleep(_POLL_SECONDS)
        except KeyboardInterrupt:
            self._athena.stop_query_execution(QueryExecutionId=query)
            raise
        status = execution["Status"]
        reason = status.get("StateChangeReason", "")
        if status["State"] == "CANCELLED" and _LIMIT in reason.lower():
            raise CannotDoError(
                f"a limit of the workgroup {self._workgroup} ended the query: {reason}; name "
                "another with --workgroup"
            )
        if status["State"] != "SUCCEEDED":
            raise CannotDoError(f"Athena: {reason or status['State'].lower()}")
        return bool(execution["StatementType"] == "DML")
