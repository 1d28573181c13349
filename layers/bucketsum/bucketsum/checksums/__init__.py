"""S3's own checksums of objects, and their comparison with the bytes that are read."""
