"""`bucketsum verify report` and `bucketsum backfill report`: the balance and the findings."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import click

from bucketsum_cli.arguments.options import json_option
from bucketsum_cli.arguments.target import Target, stack_options
from bucketsum_cli.backfill.purpose_words import BACKFILL, LAST, VERIFICATION, PurposeWords
from bucketsum_cli.backfill.report_views import (
    ReportDocument,
    print_report,
    report_document,
    report_page,
)
from bucketsum_cli.backfill.reports import ReadReport, Reports
from bucketsum_cli.buckets.s3_place import S3Place
from bucketsum_cli.terminal.documents import json_text
from bucketsum_cli.terminal.errors import end_if
from bucketsum_cli.terminal.output_files import write_text

_JSON: Final = "json"


def _report_command(words: PurposeWords, metavar: str) -> click.Command:
    @click.command(
        "report",
        help=f"""Show the report of {metavar}: its balance, findings and next steps.

        {metavar} is a name from `{words.command} list`, or `last`, the default: the last run, with
        all its buckets. Each row is counted once; the first 10,000 findings of a kind are listed.

        Exits with 1 if an object differs, is lost, unreadable, damaged or failed, or if a bucket's
        run did not end well; with 2 if there is no report yet.

        Example: {words.command} report last --html -o report.html
        """,
    )
    @click.argument("run_id", metavar=f"[{metavar}]", default=LAST)
    @click.option("--csv", "form", flag_value="csv", help="Print the findings as CSV.")
    @click.option("--html", "form", flag_value="html", help="Print a page of one file.")
    @click.option(
        "-o",
        "--output",
        metavar="FILE",
        default="-",
        help="A file or s3://BUCKET/KEY; - is stdout. An existing file is replaced.",
    )
    @json_option(ReportDocument)
    @stack_options
    def report(target: Target, run_id: str, form: str | None, output: str, as_json: bool) -> None:
        read = Reports(target.find_kept(), words).read(run_id)
        if as_json or form or output != "-":
            _write(target, output, _text(read, _JSON if as_json else form or _JSON))
        else:
            print_report(read)
        end_if(read.problems)

    return report


def _text(read: ReadReport, form: str) -> str:
    if form == _JSON:
        return f"{json_text(report_document(read))}\n"
    return read.csv() if form == "csv" else report_page(read)


def _write(target: Target, output: str, text: str) -> None:
    if not S3Place.is_url(output):
        write_text(Path(output), text)
        return
    place = S3Place.of_object(output)
    target.connect()[0].client("s3").put_object(
        Bucket=place.bucket, Key=place.key, Body=text.encode()
    )


backfill_report = _report_command(BACKFILL, "BACKFILL")
verify_report = _report_command(VERIFICATION, "RUN")
