"""The command's part of the workload records."""
