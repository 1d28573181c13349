"""Errors and causes that Step Functions reports, as text for people."""

from __future__ import annotations

import json


def plain_cause(error: str | None, cause: str | None) -> str:
    """Return ``name: text``; for a Lambda error, whose cause is JSON, its type and message.

    A cause that was cut off in the middle of its JSON stays as it is.
    """
    try:
        document = json.loads(cause or "")
    except ValueError:
        document = None
    if isinstance(document, dict) and "errorMessage" in document:
        error = document.get("errorType") or error
        cause = document["errorMessage"]
    return ": ".join(text for text in (error, cause) if text)
