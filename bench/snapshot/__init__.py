"""Snapshots of many rows: load, questions, and plain DuckDB beside them."""
