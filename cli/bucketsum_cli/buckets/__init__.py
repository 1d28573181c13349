"""Buckets: which the stack serves, what they contain, and how many objects."""
