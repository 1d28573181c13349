"""The analyst's entry point, which never changes: what it does is in the layer."""

from bucketsum_lab.functions.analyst import lambda_handler

__all__ = ["lambda_handler"]
