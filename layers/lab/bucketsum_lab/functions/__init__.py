"""The functions of sweeps: each module wires one as it is imported, and has its handler."""
