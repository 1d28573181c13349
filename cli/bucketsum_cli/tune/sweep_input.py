"""A sweep's input: the fields of a JSON file; options override them."""

from __future__ import annotations

import json
import re
import stat
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

import click

from bucketsum_cli.terminal.errors import CannotDoError
from bucketsum_lab.protocol.measuring import GB_PER_TB

if TYPE_CHECKING:
    from pathlib import Path

FILE_MAX_BYTES: Final = 1_000_000
"""Maximum size of an input file; Step Functions accepts 256 KiB."""

_REPLACED_BY: Final = {
    "memory_mb": ("pairs",),
    "chunk_bytes": ("pairs",),
    "object_bytes": ("keys",),
    "keys": ("object_bytes",),
}
"""Fields of the file that an option removes in addition to its own."""

_STRATEGY_OPTIONS: Final = ("weight", "mb_per_s", "usd_per_gb")
_PLAIN_WORDS: Final = re.compile(r"[a-z]+")
"""Names of fields that also occur as words, so that they are names before ``is`` alone."""

_EXAMPLE: Final = "bucketsum tune run --memory 512,1769 --chunk 256KiB,1MiB --object-size 100MB"


def sweep_fields(options: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of a sweep's input that *options* of the command set.

    Raises:
        UsageError: An option of a strategy is given without a strategy.
    """
    fields = {name: value for name, value in options.items() if value not in (None, ())}
    if "usd_per_tb" in fields:
        fields["usd_per_gb"] = fields.pop("usd_per_tb") / GB_PER_TB
    strategy = {name: fields.pop(name) for name in _STRATEGY_OPTIONS if name in fields}
    if strategy and "strategy" not in fields:
        raise click.UsageError("--weight, --mb-per-s and --usd-per-tb need a --strategy")
    if "strategy" in fields:
        fields["strategy"] = {"name": fields["strategy"], **strategy}
    if "keys" in fields:
        fields["keys"] = list(fields["keys"])
    if "max_usd" in fields:
        fields["limits"] = {"max_usd": fields.pop("max_usd")}
    return fields


def sweep_input(file: Path | None, fields: Mapping[str, Any]) -> dict[str, Any]:
    """The JSON of a sweep: the fields of *file*, replaced by *fields*.

    Raises:
        CannotDoError: The file cannot be read, or is not a JSON object.
        UsageError: Neither a file nor options say what to measure.
    """
    if file is None and "memory_mb" not in fields:  # some workloads need nothing else
        raise click.UsageError(
            "give a file such as events/sweep-quick.json, or the settings to measure: " + _EXAMPLE
        )
    sweep = _document_in(file) if file else {}
    for name in fields:
        for replaced in _REPLACED_BY.get(name, ()):
            sweep.pop(replaced, None)
    sweep |= fields
    _require_unicode(sweep)
    return sweep


@contextmanager
def naming(options: Mapping[str, str]) -> Iterator[None]:
    """Within the ``with`` block, errors name *options* instead of the fields of the input."""
    try:
        yield
    except CannotDoError as error:
        raise CannotDoError(_with_options(error.message, options)) from error


def _with_options(text: str, options: Mapping[str, str]) -> str:
    for field, option in options.items():
        is_word = _PLAIN_WORDS.fullmatch(field) and field != "keys"
        name = rf"(?:strategy\.|limits\.)?{field}(?:\[\d+\])?"
        pattern = rf"(?:^|(?<=: )){name}(?= is\b)" if is_word else rf"(?<![\w\"'.-]){name}(?!\w)"
        text = re.sub(pattern, option, text)
    return text


def _document_in(file: Path) -> dict[str, Any]:
    try:
        sweep = json.loads(_content_of(file))
    except OSError as error:
        raise CannotDoError(f"{file} cannot be read: {error.strerror or error}") from error
    except RecursionError as error:
        raise CannotDoError(f"{file} cannot be read as JSON: it is nested too deeply") from error
    except ValueError as error:  # also bytes that are not UTF-8, and integers of 5,000 digits
        raise CannotDoError(f"{file} cannot be read as JSON: {error}") from error
    if not isinstance(sweep, dict):
        raise CannotDoError(f"{file} is not a JSON object; see docs/sweeps.md for the format")
    return sweep


def _content_of(file: Path) -> str:
    """The text of a regular file: a device would never end."""
    if not stat.S_ISREG(file.stat().st_mode):
        raise CannotDoError(f"{file} is not a regular file")
    with file.open("rb") as opened:
        content = opened.read(FILE_MAX_BYTES + 1)
    if len(content) > FILE_MAX_BYTES:
        raise CannotDoError(
            f"{file} is too large for the input of a sweep: more than {FILE_MAX_BYTES:,} bytes"
        )
    return content.decode("utf-8")


def _require_unicode(sweep: Mapping[str, Any]) -> None:
    """Refuse lone surrogates: neither JSON in UTF-8 nor an S3 key can hold them."""
    for name, value in sweep.items():
        try:
            json.dumps([name, value], ensure_ascii=False).encode()
        except UnicodeEncodeError:
            raise CannotDoError(
                f"{name} has a character that is not Unicode text; S3 keys are UTF-8"
            ) from None
