"""The enqueuer's entry point, which never changes: what it does is in the layer."""

from bucketsum.functions.enqueuer import lambda_handler

__all__ = ["lambda_handler"]
