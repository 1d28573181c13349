"""The contract between sweeps and workloads."""
