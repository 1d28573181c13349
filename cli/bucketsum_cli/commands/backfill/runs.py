"""`bucketsum backfill list`, `show`, `stop` and `resume`, and those of `bucketsum verify`."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Final

import click

from bucketsum.backfill.report import subject_of
from bucketsum.errors import DamagedItem
from bucketsum_cli.arguments.completion import completing
from bucketsum_cli.arguments.options import json_option, limit_option
from bucketsum_cli.arguments.target import Target, stack_options
from bucketsum_cli.backfill.backfills import Backfills
from bucketsum_cli.backfill.purpose_words import BACKFILL, VERIFICATION, PurposeWords
from bucketsum_cli.backfill.report_views import ReportDocument, print_findings, report_document
from bucketsum_cli.backfill.reports import Reports
from bucketsum_cli.backfill.views import (
    BackfillProgress,
    print_list,
    print_progress,
    progress_document,
)
from bucketsum_cli.terminal.errors import ANSWER_IS_NO, end_if
from bucketsum_cli.terminal.formatting import count_text
from bucketsum_cli.terminal.output import note, print_json, say
from bucketsum_cli.terminal.unexpected import end_if_damaged

_EXAMPLE: Final = "20261121T101500-3f9a1c"


def _commands_of(words: PurposeWords, metavar: str) -> tuple[click.Command, ...]:
    """The commands `list`, `show`, `stop` and `resume` for the runs of a purpose."""
    named = f"{metavar} is a name from `{words.command} list`, or `last`."

    def names(target: Target, _: str) -> Iterator[str]:
        for run in Backfills(target.find(), words).records():
            yield run.name if isinstance(run, DamagedItem) else run.backfill_id

    argument = click.argument("backfill_id", metavar=metavar, shell_complete=completing(names))
    return (
        _list_command(words),
        argument(_show_command(words, metavar, named)),
        argument(_change_command("stop", words, metavar, named)),
        argument(_change_command("resume", words, metavar, named)),
    )


def _list_command(words: PurposeWords) -> click.Command:
    @click.command(
        "list",
        help=f"""List {words.name}s, newest first.

        Of a deleted stack, lists the reports that its tables still have. Exits with 1 if another
        program damaged the record of a {words.name}, or if --check finds that a report was altered
        or is missing.

        Example: {words.command} list
        """,
    )
    @click.option(
        "--check",
        is_flag=True,
        help="Follow the chain of the reports' digests, in the table and in the report bucket.",
    )
    @limit_option(f"{words.name}s to show")
    @json_option(list[BackfillProgress], list[ReportDocument])
    @stack_options
    def list_runs(target: Target, limit: int, check: bool, as_json: bool) -> None:
        reports = Reports(target.find_kept(), words)
        if not reports.stack.function:
            _list_kept(reports, limit, check=check, as_json=as_json)
            return
        backfills = Backfills(reports.stack, words)
        listed, places = list(islice(backfills.newest(), limit)), reports.places()
        if as_json:
            print_json([progress_document(progress, places) for progress in listed])
        elif listed:
            print_list(listed, words, places)
        else:
            note(f"no {words.name} has run yet; start one with `{words.line('BUCKET')}`")
        end_if_damaged(listed)
        if check:
            _end_if_broken(reports, len(places))

    return list_runs


def _list_kept(reports: Reports, limit: int, *, check: bool, as_json: bool) -> None:
    """List the newest reports of a deleted stack, whose runs have no state any more."""
    places = reports.places()
    newest = map(reports.read, reversed(places))
    of_purpose = (r for r in newest if r.document["purpose"] == reports.words.purpose)
    kept = [*islice(of_purpose, limit)]
    if as_json:
        print_json([*map(report_document, kept)])
    for report in () if as_json else kept:
        say(f"{report.chained.run}  {subject_of(report.document)}")
    if not kept:
        note(f"no {reports.words.name} has a report")
    if check:
        _end_if_broken(reports, len(places))


def _end_if_broken(reports: Reports, count: int) -> None:
    """Say where the chain of reports breaks, and exit with 1; or that it is whole."""
    if breaks := list(reports.breaks()):
        for text in breaks:
            note(text, "red")
        raise SystemExit(ANSWER_IS_NO)
    note(f"{count_text(count, 'report')}, each with the digest of the one before it")


def _show_command(words: PurposeWords, metavar: str, named: str) -> click.Command:
    @click.command(
        "show",
        help=f"""Show progress, rate, cost so far and failures of {metavar}.

        {named}

        Exits with 1 if its execution failed (its cause is shown), if objects failed or were not
        counted (`bucketsum failures` shows the reasons){words.exits}, or if another program damaged
        its records.

        Example: {words.command} show {_EXAMPLE}
        """,
    )
    @json_option(BackfillProgress)
    @stack_options
    def show(target: Target, backfill_id: str, as_json: bool) -> None:
        try:
            backfills = Backfills(target.find(), words)
            progress = backfills.progress(backfill_id)
            reports = Reports(backfills.stack, words)
        except DamagedItem as error:
            if as_json:
                print_json(progress_document(error))
            raise
        if as_json:
            print_json(progress_document(progress))
        else:
            print_progress(progress)
            print_findings(reports, progress.backfill)
        end_if(progress.has_failed or reports.problems_of(progress.backfill.run_id))

    return show


_CHANGES: Final = {
    "stop": (
        "Stop {0}; objects already queued are still read.",
        Backfills.stop,
        "stopped {0}; continue it with `{1}`",
        "resume",
    ),
    "resume": (
        "Continue {0} after it was stopped or its execution failed.",
        Backfills.resume,
        "resumed {0}; show its progress with `{1}`",
        "show",
    ),
}
"""Command → its help, what it does, what it says then, and the command that this names."""


def _change_command(name: str, words: PurposeWords, metavar: str, named: str) -> click.Command:
    summary, change, text, following = _CHANGES[name]

    @click.command(
        name,
        help=f"""{summary.format(metavar)}

        {named}

        Example: {words.command} {name} {_EXAMPLE}
        """,
    )
    @json_option(BackfillProgress)
    @stack_options
    def command(target: Target, backfill_id: str, as_json: bool) -> None:
        backfills = Backfills(target.find(), words)
        changed = change(backfills, backfill_id)
        if as_json:
            print_json(progress_document(backfills.progress_of(changed)))
        else:
            say(text.format(changed.backfill_id, words.line(following, changed.backfill_id)))

    return command


backfill_list, backfill_show, backfill_stop, backfill_resume = _commands_of(BACKFILL, "BACKFILL")
verify_list, verify_show, verify_stop, verify_resume = _commands_of(VERIFICATION, "RUN")
