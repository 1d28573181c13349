"""The workload that decompresses archives."""
