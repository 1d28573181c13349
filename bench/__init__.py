"""Benchmarks of bucketsum; every benchmark is a sub-command of ``python -m bench``."""
