"""The workload that reads random records."""
