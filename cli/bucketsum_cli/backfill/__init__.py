"""`bucketsum backfill`: hash the objects that are in a bucket already."""
