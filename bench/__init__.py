"""Benchmarks of bucketsum; every benchmark is a subcommand of ``python -m bench``."""
