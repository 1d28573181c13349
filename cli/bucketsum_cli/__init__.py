"""The `bucketsum` command."""
