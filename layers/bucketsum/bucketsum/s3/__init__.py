"""Read S3 objects: all bytes in order, or a few ranges of them."""
