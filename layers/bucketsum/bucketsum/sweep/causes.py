"""What Step Functions tells of an error → a sentence for people."""

from __future__ import annotations

import json


def plain_cause(error: str | None, cause: str | None) -> str:
    """``name: text``; of a function's error, which is told as JSON, its type and message.

    A cause that was cut off in the middle of its JSON stays as it is.
    """
    try:
        told = json.loads(cause or "")
    except ValueError:
        told = None
    if isinstance(told, dict) and "errorMessage" in told:
        error = told.get("errorType") or error
        cause = told["errorMessage"]
    return ": ".join(one for one in (error, cause) if one)
