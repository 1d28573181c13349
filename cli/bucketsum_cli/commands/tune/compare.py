"""`bucketsum tune compare`: two runs, cell by cell."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

import click

from bucketsum_cli.arguments.options import json_option
from bucketsum_cli.arguments.target import Target, stack_options
from bucketsum_cli.terminal.columns import Cell, Column
from bucketsum_cli.terminal.formatting import MISSING, speed_text, usd_text
from bucketsum_cli.terminal.output import print_json, say
from bucketsum_cli.terminal.tables import print_table
from bucketsum_cli.tune.comparison import Pair, differences, pair_as_json, pairs_of
from bucketsum_cli.tune.formatting import chunk_text, percent_text
from bucketsum_cli.tune.recorded_runs import RecordedRuns, complete_run
from bucketsum_cli.tune.report.export import run_as_json
from bucketsum_cli.tune.report.table_view import LOCAL_NOTE, is_narrow
from bucketsum_cli.tune.results import Results, bottleneck_text, statistic_of
from bucketsum_cli.tune.setting_labels import has_notable_streams, streams_text

_NARROW: Final = Column("setting", shrinks=True)
"""The whole setting, on a terminal without the room for a column of each value."""

_SETTING: Final = (Column("memory", right=True), Column("chunk size", right=True))
_STREAMS: Final = Column("streams", right=True)
_DISK: Final = Column("disk", shrinks=True)
_OBJECT: Final = Column("object", shrinks=True)
_SPEED: Final = (
    Column("MB/s before", right=True),
    Column("after", right=True),
    Column("change", right=True),
)
_LIMITS: Final = (Column("bottleneck before", shrinks=True), Column("after", shrinks=True))
_COST: Final = (
    Column("USD/TB before", right=True),
    Column("after", right=True),
    Column("change", right=True),
    Column("difference", shrinks=True),
)


@click.command("compare")
@click.argument("before_id", metavar="RUN", shell_complete=complete_run)
@click.argument("after_id", metavar="RUN", shell_complete=complete_run)
@click.option("--after-stack", metavar="NAME",
              help="Stack of the second run, if different; not with --local.")  # fmt: skip
@json_option()
@stack_options
def compare(
    target: Target, before_id: str, after_id: str, after_stack: str | None, as_json: bool
) -> None:
    """Compare the speed and cost of two runs, cell by cell.

    Each RUN is a name from `bucketsum tune list`, or `last`.

    Example: bucketsum tune compare 20261121T041500-abcdef last
    """
    if target.local and after_stack:
        raise click.UsageError(
            "--after-stack cannot be used with --local: the local emulator has one stack"
        )
    before = RecordedRuns(target).results(before_id)
    if after_stack:
        target = replace(target, stack=after_stack, is_named=True)
    after = RecordedRuns(target).results(after_id)
    if as_json:
        print_json(
            {
                "before": run_as_json(before.run),
                "after": run_as_json(after.run),
                "differences": list(differences(before, after)),
                "cells": [pair_as_json(pair) for pair in pairs_of(before, after)],
            }
        )
    else:
        _print(before, after)


def _print(before: Results, after: Results) -> None:
    say(f"before: {before.run.run_id}   after: {after.run.run_id}")
    for difference in differences(before, after):
        say(f"they differ in {difference}", "yellow")
    if before.is_local or after.is_local:
        say(LOCAL_NOTE, "yellow")
    pairs = pairs_of(before, after)
    settings = [pair.setting for pair in pairs]
    streams = [_STREAMS] * has_notable_streams(settings)
    own = list(dict.fromkeys(name for setting in settings for name in setting.own))
    has_limits = any(cell.limit for pair in pairs for cell in (pair.before, pair.after) if cell)
    has_disks = any(pair.disk for pair in pairs)
    if is_narrow():
        texts = (_setting_text(pair, has_streams=bool(streams)) for pair in pairs)
        rows = ([text, *_numbers(pair)] for text, pair in zip(texts, pairs, strict=True))
        print_table((_NARROW, *_SPEED, *_COST), rows)
    else:
        columns = (
            *_SETTING, *streams, *(Column(name) for name in own), *([_DISK] * has_disks),
            _OBJECT, *_SPEED, *(_LIMITS if has_limits else ()), *_COST,
        )  # fmt: skip
        rows = (
            [
                pair.memory,
                chunk_text(pair.setting.chunk_bytes),
                *(str(pair.setting.streams) for _ in streams),
                *(str(pair.setting.own.get(name, MISSING)) for name in own),
                *([pair.disk or MISSING] * has_disks),
                pair.object,
                *_numbers(pair, has_limits=has_limits),
            ]
            for pair in pairs
        )
        print_table(columns, rows)
    if not any(pair.before and pair.after for pair in pairs):
        say("no cell was measured in both runs: they have no setting with the same object", "bold")


def _setting_text(pair: Pair, *, has_streams: bool) -> str:
    """The setting and the object of *pair*."""
    setting = pair.setting
    return ", ".join(
        [
            pair.memory,
            chunk_text(setting.chunk_bytes),
            *([streams_text(setting.streams)] * has_streams),
            *(f"{name} {value}" for name, value in setting.own.items()),
            *([pair.disk] * bool(pair.disk)),
            pair.object,
        ]
    )


def _numbers(pair: Pair, *, has_limits: bool = False) -> list[str | Cell]:
    before, after = pair.before, pair.after
    return [
        speed_text(statistic_of(before, "mb_per_s")),
        speed_text(statistic_of(after, "mb_per_s")),
        percent_text(pair.mb_per_s_change),
        *(bottleneck_text(cell) for cell in (before, after) if has_limits),
        usd_text(statistic_of(before, "usd_per_tb")),
        usd_text(statistic_of(after, "usd_per_tb")),
        percent_text(pair.usd_per_gb_change),
        Cell(pair.verdict, "bold" if pair.verdict == "different" else "dim"),
    ]
