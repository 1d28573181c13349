"""The workload that copies files."""
