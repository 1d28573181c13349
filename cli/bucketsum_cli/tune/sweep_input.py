"""A sweep's input: the fields of a JSON file; options override them."""

from __future__ import annotations

import json
import stat
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

import click

from bucketsum_cli.terminal.errors import CannotDoError
from bucketsum_lab.errors import BadSweep, FieldPlace

FILE_MAX_BYTES: Final = 1_000_000
"""Maximum size of an input file; Step Functions accepts 256 KiB."""

_REPLACED_BY: Final = {
    "memory_mb": ("pairs",),
    "chunk_bytes": ("pairs",),
    "object_bytes": ("keys",),
    "keys": ("object_bytes",),
}
"""Fields of the file that an option removes in addition to its own."""

_EXAMPLE: Final = "bucketsum tune run --memory 256,512,1769 --object-size 100MB"


def sweep_input(file: Path | None, fields: Mapping[str, Any]) -> dict[str, Any]:
    """The JSON of a sweep: the fields of *file*, replaced by *fields*.

    Raises:
        BadSweep: A field has text that is not Unicode.
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
def naming(options: Mapping[str, str] = MappingProxyType({})) -> Iterator[None]:
    """Within the ``with`` block, a refused sweep ends the command; the error names *options*."""
    try:
        yield
    except BadSweep as error:
        raise CannotDoError(f"this sweep cannot run: {error.text(options)}") from error


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
        raise CannotDoError(
            f"{file} is not a JSON object; see docs/reference/sweeps.md for the format"
        )
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
            raise BadSweep(
                FieldPlace(name), " has a character that is not Unicode text; S3 keys are UTF-8"
            ) from None
