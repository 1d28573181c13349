"""Versions of moto's S3, where it differs from S3."""

from typing import Any

import pytest
from moto.s3.responses import S3Response


def take_version_null(patch: pytest.MonkeyPatch) -> None:
    """S3 answers a HEAD of version ``null`` in any bucket; moto only if it keeps versions."""
    head_object = S3Response.head_object

    def taken(s3: S3Response, bucket: str, query: Any, key: str, headers: Any) -> Any:  # noqa: ANN401 - as moto's
        if not s3.backend.get_bucket(bucket).is_versioned:
            query = {}
        return head_object(s3, bucket, query, key, headers)

    patch.setattr(S3Response, "head_object", taken)
