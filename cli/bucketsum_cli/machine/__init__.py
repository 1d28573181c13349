"""This machine: its hardware, and Lambda's CPU share, memory limit and network on it."""
