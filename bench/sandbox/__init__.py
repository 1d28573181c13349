"""The benchmark sandbox: Lambda-like CPU share, memory limit and network, and an S3 in it."""
