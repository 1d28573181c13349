"""Snapshots: all rows of a stack at one time, in files that SQL questions read."""
