"""`bucketsum page`: everything at a glance, as one HTML page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import click

from bucketsum_cli.arguments.buckets import object_place
from bucketsum_cli.arguments.options import output_option
from bucketsum_cli.buckets.expiring_link import publish
from bucketsum_cli.buckets.s3_place import S3Place
from bucketsum_cli.commands.asking import Asking, question, snapshot_option
from bucketsum_cli.page.answers import PageAnswer, answers_of
from bucketsum_cli.page.figures import figures_of
from bucketsum_cli.page.history import keep, pages_before, totals_of
from bucketsum_cli.page.page import page_of
from bucketsum_cli.snapshots.storage_prices import put_prices
from bucketsum_cli.terminal.documents import Moment
from bucketsum_cli.terminal.formatting import moment_text
from bucketsum_cli.terminal.output import note, print_json, say
from bucketsum_cli.terminal.output_files import STDOUT, write_text


@dataclass(frozen=True, slots=True)
class PageResult:
    """The result of `page`."""

    snapshot: Annotated[Path, "Folder of the snapshot that was asked."]
    file: Annotated[Path | None, "The page; null if it was only published."]
    url: Annotated[str | None, "A link to the published page."]
    url_expires_at: Annotated[Moment | None, "When the link ends."]
    answers: Annotated[Sequence[PageAnswer], "The answers at its top."]


@click.command("page")
@output_option("Output file; by default the stack's name with .html; - is stdout.")
@click.option(
    "--publish",
    "place",
    callback=object_place,
    metavar="URL",
    help="Write it to s3://BUCKET/KEY, and print a link.",
)
@click.option(
    "--days",
    type=click.IntRange(1, 7),
    default=7,
    show_default=True,
    metavar="N",
    help="Time after which the link ends.",
)
@question(PageResult, options=(snapshot_option,))
def page(
    asking: Asking,
    file: Path | None,
    place: S3Place | None,
    days: int,
    as_json: bool,
) -> None:
    """Summarize a stack's buckets on one HTML page.

    The page has the buckets, what is broken, lost or deleted, verifications, arrivals, copies to
    delete, costs, and what changed since the pages before, whose totals are kept on this machine.
    Lists all buckets, unless --snapshot is given. Anybody with the link of --publish can read the
    page until the link ends.

    Example: bucketsum page --publish s3://my-reports/photos.html --days 1
    """
    if as_json and file == STDOUT:
        raise click.UsageError("--json cannot be used with --output -")
    database, snapshot = asking.database(asking.keys(None, ""))
    put_prices(database)
    figures = figures_of(database, snapshot)
    before, totals = pages_before(snapshot), totals_of(snapshot, figures)
    answers = [*answers_of(figures, totals, before)]
    html = page_of(snapshot, figures, answers, [totals, *before])
    link = publish(asking.target.connect()[0], place, html, days) if place else None
    if file is None and not place:
        file = Path(f"{Path(snapshot.stack).name}.html")
    if file:
        write_text(file, html)
    keep(snapshot, totals)
    if as_json:
        url, end, _ = link or (None, None, None)
        print_json(PageResult(snapshot.folder, file, url, end, answers))
        return
    if file not in (None, STDOUT):
        say(str(file))
    if link:
        say(link.url)
        sooner = ", or sooner, with your temporary credentials" * link.ends_with_credentials
        note(f"the link ends on {moment_text(link.expires_at)} UTC{sooner}")
