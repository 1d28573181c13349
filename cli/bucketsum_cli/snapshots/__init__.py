"""Snapshots: all rows of a stack at one time, in files that questions in SQL are asked of."""
