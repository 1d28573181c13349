"""`bucketsum page`: a snapshot as one HTML page that needs nothing else."""
