"""Sizes, shares and ages as people write them: 3.3MB, 25%, 90d."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Final

import click

_UNITS_BYTES: Final = {
    "": 1,
    "b": 1,
    "kb": 10**3,
    "mb": 10**6,
    "gb": 10**9,
    "tb": 10**12,
    "kib": 2**10,
    "mib": 2**20,
    "gib": 2**30,
    "tib": 2**40,
}
_SIZE: Final = re.compile(r"(\d{1,18}(?:\.\d{1,18})?)\s*([a-z]*)", re.IGNORECASE)
_AGE: Final = re.compile(r"(\d{1,4})([hdw])")
_UNITS: Final = {"h": "hours", "d": "days", "w": "weeks"}
_SHARE: Final = re.compile(r"(\d{1,3}(?:\.\d+)?)%")


def size_bytes(text: str) -> int:
    """Return bytes, with a unit of 1,000s (``MB``) or of 1,024s (``MiB``).

    Raises:
        click.BadParameter: *text* is not a size.
    """
    match = _SIZE.fullmatch(text)
    unit_bytes = _UNITS_BYTES.get(match[2].lower()) if match else None
    if match is None or unit_bytes is None:
        raise click.BadParameter(
            f"{text!r} is not a valid size; write it as 262144, 256KiB or 20MB"
        )
    return round(float(match[1]) * unit_bytes)


def share(text: str) -> float:
    """Return a share such as 1% as a number above 0 and at most 1.

    Raises:
        click.BadParameter: *text* is not a share.
    """
    match = _SHARE.fullmatch(text)
    value = float(match[1]) / 100 if match else 0.0
    if not 0 < value <= 1:
        raise click.BadParameter(f"{text!r} is not a share such as 1%, 0.5% or 100%")
    return value


def age(text: str) -> timedelta:
    """Return an age such as 90d.

    Raises:
        click.BadParameter: *text* is not an age.
    """
    if not (match := _AGE.fullmatch(text)):
        raise click.BadParameter(f"{text!r} is not an age such as 90d, 12h or 4w")
    return timedelta(**{_UNITS[match[2]]: int(match[1])})
