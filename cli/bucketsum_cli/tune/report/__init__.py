"""`bucketsum tune report`: a run as one HTML page that needs nothing else."""
