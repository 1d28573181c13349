"""Costs computed from the results of other benchmarks."""
