"""Options of `bucketsum tune run` for a sweep's input and for the machine."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from enum import StrEnum
from pathlib import Path
from typing import Any, Final

import click

from bucketsum.s3.read_plan import AUTO_STREAMS
from bucketsum_cli.arguments.buckets import BucketName
from bucketsum_cli.arguments.options import FiniteRange
from bucketsum_cli.arguments.quantities import size_bytes
from bucketsum_cli.tune.machine import Confinement
from bucketsum_lab.plan.input_fields import (
    CHUNKS,
    CONCURRENCY,
    FIELDS,
    KEYS,
    MEMORY,
    OBJECT_BYTES,
    RUNS,
    STRATEGY,
    STREAMS,
    USD_PER_GB,
    WORKLOAD,
    Field,
    StrategyName,
)
from bucketsum_lab.protocol.measuring import GB_PER_TB
from bucketsum_lab.workloads import OWN_PARAMETERS, WORKLOADS, WorkloadName


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


_INTEGERS: Final = _separated(_integer)
_VALUES: Final = _separated(_value)
_SIZES: Final = _separated(size_bytes)


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
            f"--{parameter.option_name}",
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


def _usd_per_gb(text: str) -> float:
    """Dollars per TB, as the option has them, per GB, as the field has."""
    return float(FiniteRange(1e-6, 1e6).convert(text, None, None)) / GB_PER_TB


_TYPES: Final[Mapping[Field[Any], Mapping[str, Any]]] = {
    MEMORY: {"type": _INTEGERS},
    CHUNKS: {"type": _SIZES},
    OBJECT_BYTES: {"type": _SIZES},
    KEYS: {"multiple": True},
    STREAMS: {"type": _separated(_connections)},
    WORKLOAD: {"type": _choice(WorkloadName), "is_eager": True},
    CONCURRENCY: {"type": _INTEGERS},
    RUNS: {"type": int},
    STRATEGY: {"type": _choice(StrategyName)},
    USD_PER_GB: {"type": _usd_per_gb},
}
"""How the texts of options become values of fields; those of the others are numbers."""


def _field_options() -> Iterator[Any]:
    """Yield an option for each field that has one; those of the workloads follow ``workload``."""
    for field in FIELDS:
        if field.option:
            yield click.option(
                f"--{field.option}",
                field.parameter,
                metavar=field.metavar,
                help=field.help,
                **_TYPES.get(field, {"type": float}),
            )
        if field is WORKLOAD:
            yield from _workload_options()


def sweep_options(command: Callable[..., None]) -> Callable[..., None]:
    """Give *command* the options for the fields of a sweep's input, and those of ``--here``.

    An option overrides the file's field.
    """
    for option in reversed(
        (
            *_field_options(),
            click.option("--here", "is_here", is_flag=True,
                         help="Measure on this machine; see docs/how-to/compare-machines.md."),
            click.option("--bucket", type=BucketName(), metavar="NAME",
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


def fields_of(options: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of a sweep's input that *options* of the command set.

    Raises:
        UsageError: An option of a strategy is given without a strategy.
    """
    fields: dict[str, Any] = {
        name: options[name] for name in OWN_PARAMETERS if _is_set(options, name)
    }
    for field in FIELDS:
        if field.option and _is_set(options, field.parameter):
            place, _, name = field.name.rpartition(".")
            value = options[field.parameter]
            of_place = fields.setdefault(place, {}) if place else fields
            of_place[name] = list(value) if field is KEYS else value
    if "name" not in fields.get("strategy", {"name"}):
        raise click.UsageError("--weight, --mb-per-s and --usd-per-tb need a --strategy")
    return fields


def names_of(options: Mapping[str, Any], *, set_alone: bool) -> dict[str, str]:
    """Fields of the input → the *options* for them; *set_alone* leaves out those not set."""
    names = {field.name: (field.parameter, field.option) for field in FIELDS if field.option}
    names |= {name: (name, parameter.option_name) for name, parameter in OWN_PARAMETERS.items()}
    return {
        field: f"--{option}"
        for field, (parameter, option) in names.items()
        if not set_alone or _is_set(options, parameter)
    }


def _is_set(options: Mapping[str, Any], name: str) -> bool:
    return options[name] not in (None, ())
