"""The workload that reads and hashes whole objects."""
