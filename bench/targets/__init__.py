"""Targets for speed and memory, measured on the local emulator."""
