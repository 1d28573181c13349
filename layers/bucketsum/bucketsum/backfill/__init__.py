"""Backfill: list, queue and hash the existing objects of a bucket."""

from __future__ import annotations

from typing import Final

_BEGINNING: Final = '{"backfill":'


def is_listed(body: str) -> bool:
    """Whether the message holds listed objects; here, so that a cold start loads nothing else."""
    return body.startswith(_BEGINNING)
