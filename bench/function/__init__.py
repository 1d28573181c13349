"""The whole hasher function on small objects, and its cold start."""
