"""The `bucketsum` command line program."""
