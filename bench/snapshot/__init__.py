"""Snapshots of many rows: load, questions, and plain Python beside them."""
