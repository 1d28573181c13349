"""This machine: its hardware, and control groups on it."""
