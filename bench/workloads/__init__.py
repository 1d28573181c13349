"""The sweep's workloads in sandboxes on this machine, and the same work in other languages."""
