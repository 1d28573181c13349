"""Sweeps on this machine, without Lambda."""
