"""How fast a burst of uploads is hashed, with your own numbers: ``python -m bench scaling``."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from bench.scaling.limits import (
    ACCOUNT_CONCURRENCY,
    FUNCTION_SECONDS,
    NEW_TABLE_WRITES_PER_SECOND,
    Setting,
    uses,
)
from bench.scaling.model import US_PER_SECOND, Burst, Run
from bench.scaling.tables import (
    MB_PER_S,
    OVERHEAD_SECONDS,
    burst_of,
    duration_text,
    run_of,
    tables,
)
from bench.tables.table import Head, Table, written_between
from bucketsum_cli import output
from bucketsum_cli.tune.sweep_input import Size

if TYPE_CHECKING:
    from collections.abc import Callable

DOCUMENT: Final = Path(__file__).parents[2] / "docs" / "scaling.md"

_MOST_INVOCATIONS: Final = 20_000_000
_SLOW_FROM_INVOCATIONS: Final = 1_000_000
_FEW_MINUTES: Final = 10


class _Pollers(click.ParamType):
    """``20`` or ``20-100``: the least and the most."""

    name = "pollers"

    def convert(
        self,
        value: Any,  # noqa: ANN401 - as click has it
        param: click.Parameter | None,
        ctx: click.Context | None,
    ) -> tuple[int, int]:
        """*value* as two numbers."""
        least, _, most = str(value).partition("-")
        if not (least.isdecimal() and (most or least).isdecimal()):
            self.fail(f"{value!r} is no number of pollers; write it as 20 or 20-100", param, ctx)
        return int(least), int(most or least)


_OPTIONS: Final = (
    click.option("--objects", type=click.IntRange(1), default=10_000, show_default=True,
                 help="Uploads at one moment."),
    click.option("--size", type=Size(), default="1GB", show_default=True, help="Of each."),
    click.option("--mb-per-s", type=click.FloatRange(0, min_open=True), default=MB_PER_S,
                 show_default=True, help="What one invocation reads and hashes."),
    click.option("--overhead-ms", type=click.FloatRange(0), default=OVERHEAD_SECONDS * 1000,
                 show_default=True, help="What an object takes besides: requests, the row."),
    click.option("--seconds-per-object", type=click.FloatRange(0, min_open=True),
                 help="Measured, in the place of size, speed and overhead."),
    click.option("--batch-size", type=click.IntRange(1, 10_000), default=1, show_default=True,
                 help="Messages per invocation."),
    click.option("--at-once", type=click.IntRange(1), default=1, show_default=True,
                 help="Objects that an invocation reads at the same time."),
    click.option("--max-concurrency", type=int, help="MaximumConcurrency; none without it."),
    click.option("--pollers", type=_Pollers(), help="Provisioned pollers, as 20 or 20-100."),
    click.option("--account-concurrency", type=click.IntRange(1), default=ACCOUNT_CONCURRENCY,
                 show_default=True, help="Lambda's quota, all of it for the hasher."),
    click.option("--prefixes", type=click.IntRange(1), default=1, show_default=True,
                 help="S3 prefixes that the keys are spread over."),
    click.option("--table-writes", type=click.IntRange(1), default=NEW_TABLE_WRITES_PER_SECOND,
                 show_default=True, help="Writes per second that the table is ready for."),
    click.option("--ramp", type=click.Choice(["steps", "evenly"]), default="steps",
                 show_default=True, help="Whether a minute's invocations come when it is over."),
)  # fmt: skip


def _asking(command: Callable[..., None]) -> Callable[..., None]:
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


@click.command()
@_asking
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
@click.option("--write-docs", is_flag=True, help="Write docs/scaling.md's tables instead.")
def main(*, as_json: bool, write_docs: bool, **asked: Any) -> None:  # noqa: ANN401 - one per option
    """Simulate a burst of uploads under Lambda's, S3's and DynamoDB's documented limits.

    Nothing is measured and nothing is called: it is arithmetic on the numbers you give.

    Example: python -m bench scaling --objects 100000 --size 1.56MB --max-concurrency 1000
    """
    if write_docs:
        write_tables(DOCUMENT)
        return
    burst, setting = burst_asked_for(asked), setting_asked_for(asked)
    invocations = -(-burst.objects // burst.batch_size)
    if refused := setting.refused() or _too_much(burst, invocations):
        raise click.UsageError(refused)
    if invocations > _SLOW_FROM_INVOCATIONS:
        output.note(f"simulating {invocations:,} invocations; about 2 s a million")
    run = run_of(burst, setting)
    if as_json:
        output.print_json(as_document(burst, setting, run))
    else:
        show(burst, setting, run)


def _too_much(burst: Burst, invocations: int) -> str:
    """Why Lambda or this program cannot do it; empty where both can."""
    seconds = burst.invocation_us(burst.batch_size) / US_PER_SECOND
    if seconds > FUNCTION_SECONDS:
        return (
            f"a batch of {burst.batch_size} takes {seconds:,.0f} s, and Lambda ends an invocation "
            f"after {FUNCTION_SECONDS} s; lower --batch-size or --size"
        )
    if invocations > _MOST_INVOCATIONS:
        return (
            f"{invocations:,} invocations are more than the {_MOST_INVOCATIONS:,} that are "
            "simulated one by one; ask for fewer --objects: from full concurrency on, the time "
            "grows in proportion"
        )
    return ""


def burst_asked_for(asked: dict[str, Any]) -> Burst:
    """What arrives, by the options' names."""
    burst = burst_of(
        asked["objects"],
        asked["size"],
        asked["mb_per_s"],
        asked["overhead_ms"] / 1000,
        asked["batch_size"],
        asked["at_once"],
    )
    seconds = asked["seconds_per_object"] or burst.seconds_per_object
    return Burst(burst.objects, seconds, burst.batch_size, burst.at_once)


def setting_asked_for(asked: dict[str, Any]) -> Setting:
    """The limits, by the options' names."""
    return Setting(
        "as asked for",
        asked["max_concurrency"],
        asked["pollers"],
        asked["account_concurrency"],
        asked["prefixes"],
        asked["table_writes"],
        ramp_step_seconds=60 if asked["ramp"] == "steps" else 1,
    )


def minutes_table(run: Run) -> Table:
    """Each minute of *run*."""
    rows = []
    done = 0
    for number, minute in enumerate(run.minutes, 1):
        done += minute.finished
        rows.append((number, minute.concurrency, minute.finished, done, minute.bound_by))
    heads = (
        Head("minute", "minute"),
        Head("invocations at a time", "concurrency", "{:,}".format),
        Head("finished", "finished", "{:,}".format),
        Head("so far", "finished_so_far", "{:,}".format),
        Head("what binds", "bound_by"),
    )
    return Table("minutes", heads, tuple(rows))


def as_document(burst: Burst, setting: Setting, run: Run) -> dict[str, Any]:
    """Everything for a machine: what was asked, every minute, and the limits at full speed."""
    full = min(limit.most for limit in setting.concurrency_limits()) * burst.objects_per_second
    return {
        "burst": asdict(burst),
        "setting": asdict(setting),
        "seconds": run.seconds,
        "minutes": minutes_table(run).as_json(),
        "limits_at_full_concurrency": [
            {"limit": use.limit.name, "used": use.used, "most": use.limit.most,
             "share": use.share, "change": use.limit.change}
            for use in uses(full, burst, setting)
        ],
    }  # fmt: skip


def show(burst: Burst, setting: Setting, run: Run) -> None:
    """The first minutes and the last, and what to change."""
    table = minutes_table(run)
    shown = table.rows
    if len(shown) > _FEW_MINUTES:
        shown = (*shown[: _FEW_MINUTES - 1], shown[-1])
    Table(table.name, table.heads, shown).show()
    output.say(
        f"all {burst.objects:,} after {duration_text(run.seconds)}; an object takes "
        f"{burst.seconds_per_object:.3g} s"
    )
    changes = {
        limit.name: limit.change
        for limit in (
            *setting.concurrency_limits(),
            *setting.rate_limits(burst.batch_size),
        )
    }
    bound = dict.fromkeys(minute.bound_by for minute in run.minutes if minute.bound_by)
    for name in bound:
        output.say(f"{name}: {changes.get(name, 'provisioned pollers start higher')}")


def write_tables(document: Path) -> None:
    """Make *document*'s tables anew.

    Raises:
        ValueError: A marker is missing.
    """
    text = document.read_text("utf-8")
    for table in tables():
        text = written_between(text, table.name, table.markdown())
    document.write_text(text, "utf-8")
    output.note(f"written into {document.name}")
