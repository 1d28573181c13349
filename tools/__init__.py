"""Programs for those who work on bucketsum: each is started with `python -m`."""
