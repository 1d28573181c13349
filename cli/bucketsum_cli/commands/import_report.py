"""`bucketsum import`: S3's own readings of objects that need not be restored."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated, Final

import click

from bucketsum.table.row_parts import ReadByS3
from bucketsum_cli.arguments.buckets import BucketPlace, bucket_of
from bucketsum_cli.arguments.options import json_option, prefix_option, storage_class_option
from bucketsum_cli.arguments.target import Target, stack_options
from bucketsum_cli.aws.stack import Stack
from bucketsum_cli.backfill.checksum_job import ChecksumJob, checksum_job
from bucketsum_cli.buckets.s3_place import S3Place
from bucketsum_cli.buckets.served_buckets import buckets_of
from bucketsum_cli.manifests import reports
from bucketsum_cli.objects.s3_readings import PROBLEMS, ImportedLine, LineOutcome, ReportImport
from bucketsum_cli.snapshots.manifest_rows import opened, reported
from bucketsum_cli.terminal.columns import Column
from bucketsum_cli.terminal.errors import CannotDoError, end_if
from bucketsum_cli.terminal.formatting import count_text, tally_text
from bucketsum_cli.terminal.live_progress import notes
from bucketsum_cli.terminal.output import print_json, print_text, say
from bucketsum_cli.terminal.tables import RowTexts, print_items

_JOB: Final = re.compile(r"job-([\w-]{1,64})/manifest\.json$", re.ASCII)
_LISTED: Final = 1000
"""Lines of a kind that are listed; all are counted."""
_TEXTS: Final[RowTexts[ImportedLine]] = {
    Column("outcome"): lambda line: line.outcome,
    Column("object", shrinks=True): lambda line: f"{line.bucket}/{line.key}",
    Column("version"): lambda line: line.version,
    Column("reason", shrinks=True): lambda line: line.reason or "",
}


@dataclass(frozen=True, slots=True)
class ImportResult:
    """The result of `import`."""

    job: Annotated[str, "ID of the job, from the name of the report's folder; empty if unknown."]
    read_at: Annotated[str, "When the report was made, ISO 8601 UTC."]
    counts: Annotated[
        dict[str, int],
        "Lines by outcome: `recorded`, `verified`, `differs`, `unchanged`, `gone`, `superseded`, "
        "`not read`, `other bucket`, `bad line`.",
    ]
    lines: Annotated[Sequence[ImportedLine], "The first 1,000 lines of each kind with a problem."]


@click.command("import")
@click.argument("report", metavar="[REPORT|BUCKET]", required=False)
@click.option(
    "--plan",
    is_flag=True,
    help="Show how S3 makes a report on BUCKET, and its price; runs nothing.",
)
@storage_class_option("With --plan: only objects of CLASS, such as DEEP_ARCHIVE; may be repeated.")
@prefix_option("With --plan: only keys that begin with TEXT.")
@click.option(
    "--bucket", "named", type=BucketPlace(), metavar="NAME", help="With --plan: same as BUCKET."
)
@click.option("--dry-run", is_flag=True, help="Show what would become of the lines; write nothing.")
@json_option(ImportResult)
@stack_options
def import_report(
    target: Target,
    report: str | None,
    plan: bool,
    named: S3Place | None,
    storage_classes: tuple[str, ...],
    prefix: str,
    dry_run: bool,
    as_json: bool,
) -> None:
    """Import a report of S3 Batch Operations' Compute checksum.

    S3 reads objects of any storage class itself; nothing is restored. REPORT is the manifest.json
    of the report, as s3://BUCKET/KEY or a local copy. A version without a digest gets a row, which
    says that S3 read it. A recorded digest is compared, as in a verification, and stays.
    Importing a report again changes nothing.

    Exits with 1 if S3 read another digest, or a line could not be used.

    Example: bucketsum import --plan tapes --storage-class DEEP_ARCHIVE

    Example: bucketsum import s3://reports/job-0a1b/manifest.json
    """
    place = BucketPlace()(report) if plan and report else named
    bucket, prefix = bucket_of([place, named], prefix)
    if plan != bool(bucket) or not (plan or report):
        raise click.UsageError("name the manifest.json of a report, or a bucket with --plan")
    stack = target.find()
    if bucket:
        _show_plan(checksum_job(stack.connection, bucket, prefix, storage_classes), as_json=as_json)
        return
    result = _imported(stack, str(report), dry_run=dry_run)
    if as_json:
        print_json(result)
    else:
        _show(result, dry_run=dry_run)
    end_if(PROBLEMS & result.counts.keys())


def _imported(stack: Stack, place: str, *, dry_run: bool) -> ImportResult:
    s3 = stack.client("s3")
    try:
        with opened(place, lambda: s3) as stream:
            manifest = stream.read(reports.MANIFEST_BYTES_MAX)
    except OSError as error:
        raise CannotDoError(f"{place} cannot be read: {error.strerror or error}") from error
    name = _JOB.search(place)
    source = ReadByS3(name[1] if name else "", reports.created_at(manifest, place))
    imports = ReportImport(s3, stack.digests_table(), buckets_of(stack), source, writes=not dry_run)
    parts = reports.parts_of(manifest, place)
    counts: Counter[str] = Counter()
    problems: list[ImportedLine] = []
    for line in _with_progress(imports.lines(reported(parts, lambda: s3))):
        counts[line.outcome] += 1
        if line.outcome in PROBLEMS and counts[line.outcome] <= _LISTED:
            problems.append(line)
    if not counts:
        raise CannotDoError(f"{place} has no lines: nothing was imported")
    return ImportResult(source.job, source.at, dict(counts), problems)


def _with_progress(lines: Iterator[ImportedLine]) -> Iterator[ImportedLine]:
    with notes().status("importing ...") as status:
        for number, line in enumerate(lines, 1):
            if number % 1000 == 0:
                status.update(f"importing: {count_text(number, 'line')} ...")
            yield line


def _show(result: ImportResult, *, dry_run: bool) -> None:
    print_items(_TEXTS, result.lines)
    counts = result.counts
    text = tally_text({name: counts.get(name, 0) for name in LineOutcome})
    is_good = not PROBLEMS & counts.keys()
    say(f"{'would be: ' if dry_run else ''}{text}", "bold green" if is_good else "bold red")


def _show_plan(job: ChecksumJob, *, as_json: bool) -> None:
    if as_json:
        print_json(job)
        return
    say("1. Make a role that S3 assumes, with this trust policy and this policy:", "bold")
    for policy in (job.trust_policy, job.policy):
        print_text(f"{json.dumps(policy, indent=2)}\n")
    say("2. Start the job; put the role's ARN and your bucket for reports in:", "bold")
    print_text(f"{job.command}\n")
    say("3. When the job is complete, import its report:", "bold")
    say(job.import_command)
    say(job.price)
