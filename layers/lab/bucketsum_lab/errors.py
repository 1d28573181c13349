"""Errors that only sweeps raise."""

from __future__ import annotations

from bucketsum.errors import BucketsumError, Retryable


class BadSweep(BucketsumError):
    """A field of a sweep's input is invalid; the text names field, value and range."""


class MemoryRefused(BadSweep):
    """Lambda does not allow this memory size in this account."""


class ConcurrentUpdate(Retryable):
    """Somebody else changed the prober each time, between its update and its publication."""
