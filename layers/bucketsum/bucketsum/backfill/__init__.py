"""Backfill: list, queue and hash the existing objects of a bucket."""

from __future__ import annotations


def is_listed(body: str) -> bool:
    """Whether a message holds listed objects; a cold start imports only this backfill module."""
    return body.startswith('{"backfill":')
