"""A box in Lambda's shape: its CPU share, its memory, its network, and an S3 to read from."""
