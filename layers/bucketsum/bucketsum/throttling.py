"""Refusals of DynamoDB for a while: its capacity grows, and no object is to blame."""

from __future__ import annotations

from typing import Final

from botocore.exceptions import ClientError

from bucketsum.errors import TableBusy

THROTTLED: Final = (
    "ProvisionedThroughputExceededException", "RequestLimitExceeded", "ThrottlingException",
)  # fmt: skip
"""Codes of these errors."""


def is_throttled(error: Exception) -> bool:
    """Whether DynamoDB was only too busy; for a group of errors, in each of them."""
    if isinstance(error, ExceptionGroup):
        return all(map(is_throttled, error.exceptions))
    if isinstance(error, ClientError):
        return error.response["Error"]["Code"] in THROTTLED
    return isinstance(error, TableBusy)
