"""The attached buckets, as `bucketsum attach` lists them in the template of their stack."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any, Final

_METADATA: Final = "bucketsum"


def metadata_of(buckets: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """The metadata of a template that lists *buckets*, each with its ``name``."""
    return {_METADATA: list(buckets)}


def listed_in(template: str | Mapping[str, Any]) -> list[dict[str, Any]]:
    """The buckets that a *template* lists; its text, or parsed as botocore does."""
    parsed = json.loads(template) if isinstance(template, str) else template
    return list(parsed.get("Metadata", {}).get(_METADATA, ()))
