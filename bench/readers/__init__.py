"""S3 readers compared in the benchmark sandbox."""
