"""`bucketsum backfill`: hash the existing objects of a bucket."""
