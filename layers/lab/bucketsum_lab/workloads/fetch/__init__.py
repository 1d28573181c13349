"""The workload that fetches and processes archives."""
