"""Objects in a bucket with their rows, and local files that are uploaded or compared."""
