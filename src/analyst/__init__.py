"""Sums a sweep up."""
