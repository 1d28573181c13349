"""Options of `bucketsum tune run` for a sweep's input and for the machine."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from bucketsum.s3.read_plan import STREAMS_MAX
from bucketsum.settings import AUTO_STREAMS
from bucketsum_cli.arguments.options import FiniteRange
from bucketsum_cli.tune.machine import Confinement
from bucketsum_lab.plan.input import DEFAULT_MAX_USD, DEFAULT_REPETITIONS, StrategyName
from bucketsum_lab.workloads import OWN_PARAMETERS, WORKLOADS, WorkloadName

if TYPE_CHECKING:
    from enum import StrEnum

_UNITS_BYTES: Final = {
    "": 1,
    "b": 1,
    "kb": 10**3,
    "mb": 10**6,
    "gb": 10**9,
    "kib": 2**10,
    "mib": 2**20,
    "gib": 2**30,
}
_SIZE: Final = re.compile(r"(\d{1,18}(?:\.\d{1,18})?)\s*([a-z]*)", re.IGNORECASE)


def _separated(convert: Callable[[str], Any]) -> Callable[[str], list[Any]]:
    """The type of an option with values that are separated by commas."""
    return lambda text: [convert(part.strip()) for part in text.split(",")]


def _integer(text: str) -> int:
    return int(click.INT.convert(text, None, None))


def _connections(text: str) -> int | str:
    """A number of connections, or ``auto``, as a sweep's input has it."""
    return AUTO_STREAMS if text == AUTO_STREAMS else _integer(text)


def _value(text: str) -> int | str:
    """Return *text* as a number if it has only digits; else *text*."""
    return int(text) if text.isascii() and text.isdigit() else text


def _size_bytes(text: str) -> int:
    """Bytes, with a unit of 1,000s (``MB``) or of 1,024s (``MiB``)."""
    match = _SIZE.fullmatch(text)
    unit_bytes = _UNITS_BYTES.get(match[2].lower()) if match else None
    if match is None or unit_bytes is None:
        raise click.BadParameter(
            f"{text!r} is not a valid size; write it as 262144, 256KiB or 20MB"
        )
    return round(float(match[1]) * unit_bytes)


_INTEGERS: Final = _separated(_integer)
_VALUES: Final = _separated(_value)
_SIZES: Final = _separated(_size_bytes)


class WorkloadOption(click.Option):
    """An option that only these workloads have; only their help shows it."""

    def __init__(self, *args: Any, workloads: list[str], **settings: Any) -> None:  # noqa: ANN401 - click's
        super().__init__(*args, **settings)
        self._workloads = workloads

    def get_help_record(self, ctx: click.Context) -> tuple[str, str] | None:
        """Return the help if ``--workload`` names a workload with this option; else None."""
        is_shown = ctx.params.get("workload") in self._workloads
        return super().get_help_record(ctx) if is_shown else None


def _workload_options() -> Iterator[Any]:
    """Yield an option for each parameter that not all workloads have."""
    for parameter in OWN_PARAMETERS.values():
        names = [name for name, workload in WORKLOADS.items() if parameter in workload.parameters]
        has_numbers = not isinstance(parameter.default_value, str)
        yield click.option(
            f"--{parameter.option or parameter.name.replace('_', '-')}",
            parameter.name,
            cls=WorkloadOption,
            workloads=names,
            type=_INTEGERS if has_numbers else _VALUES,
            metavar="N,..." if has_numbers else "VALUE,...",
            help=f"For {' and '.join(names)}: {parameter.meaning.format(parameter.choices)}.",
        )


def _choice(names: type[StrEnum]) -> click.Choice:
    """The type of an option with one of *names*; click's errors show names of a StrEnum as code."""
    return click.Choice([name.value for name in names])


def _choices(names: Iterable[str], default: str) -> str:
    return ", ".join(f"{name} (default)" if name == default else name for name in names)


def sweep_options(command: Callable[..., None]) -> Callable[..., None]:
    """Give *command* the options for the fields of a sweep's input, and those of ``--here``.

    An option overrides the file's field.
    """
    for option in reversed(
        (
            click.option("--memory", "memory_mb", type=_INTEGERS, metavar="MB,...",
                         help="Memory sizes, for example 128,512,1769."),
            click.option("--chunk", "chunk_bytes", type=_SIZES, metavar="SIZE,...",
                         help="Chunk sizes, for example 256KiB,10MB."),
            click.option("--object-size", "object_bytes", type=_SIZES, metavar="SIZE,...",
                         help="Sizes of objects to generate, such as 100MB,1GB."),
            click.option("--key", "keys", multiple=True, metavar="KEY",
                         help="Object in the stack's SweepBucket, or in --bucket; may be "
                              "repeated."),
            click.option("--streams", type=_separated(_connections), metavar="N,...",
                         help=f"Connections per object: 1 to {STREAMS_MAX}, or auto (default)."),
            click.option("--workload", type=_choice(WorkloadName), metavar="NAME", is_eager=True,
                         help=f"The work to measure: {_choices(WorkloadName, WorkloadName.HASH)}; "
                              "docs/sweeps.md explains them, and --workload NAME --help shows the "
                              "options of one."),
            *_workload_options(),
            click.option("--concurrency", type=_INTEGERS, metavar="N,...",
                         help="Concurrent invocations per cell; 1 by default."),
            click.option("--runs", type=int, metavar="N",
                         help="Measurements of each cell; "
                              f"{DEFAULT_REPETITIONS} by default."),
            click.option("--strategy", type=_choice(StrategyName), metavar="NAME",
                         help="Setting to recommend: "
                              f"{_choices(StrategyName, StrategyName.CHEAPEST)}."),
            click.option("--weight", type=float, metavar="0..1",
                         help="With --strategy balanced: weight of cost, from 0 (speed alone) to 1 "
                              "(cost alone); 0.5 by default."),
            click.option("--mb-per-s", type=float, metavar="X",
                         help="With --strategy cheapest-at-least: minimum MB/s."),
            click.option("--usd-per-tb", type=FiniteRange(1e-6, 1e6), metavar="X",
                         help="With --strategy fastest-below: maximum USD per TB."),
            click.option("--max-usd", type=float, metavar="X",
                         help=f"Refuse a higher estimated cost; {DEFAULT_MAX_USD:g} by default."),
            click.option("--here", "is_here", is_flag=True,
                         help="Measure on this machine; see docs/machines.md."),
            click.option("--bucket", metavar="NAME",
                         help="With --here: bucket to read. If --stack or --local is given, the "
                              "default is the stack's SweepBucket; otherwise, --bucket is "
                              "required."),
            click.option("--usd-per-hour", type=FiniteRange(min=0, min_open=True), metavar="X",
                         help="With --here: price of this machine per hour; without it, costs are "
                              "unknown."),
            click.option("--confine", type=_choice(Confinement), metavar="LIMIT",
                         help="With --here: limit each process. `memory`: to the memory size of "
                              "the cell; `lambda`: to its CPU share too; `none`: not at all. By "
                              "default memory if control groups are writable, otherwise none."),
            click.option("--disk", "disks", multiple=True, metavar="FOLDER",
                         type=click.Path(path_type=Path),
                         help="With --here: folder on a disk for temporary files; may be repeated, "
                              "to compare disks."),
        )
    ):  # fmt: skip
        command = option(command)
    return command
