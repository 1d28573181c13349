"""Prices of what other benchmarks measured."""
