"""The sweep's workloads on this machine, in sandboxes with Lambda's link, and other languages."""
