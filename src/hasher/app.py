"""The hasher's entry point, which never changes: what it does is in the layer."""

from bucketsum.functions.hasher import lambda_handler

__all__ = ["lambda_handler"]
