"""This machine: processes, control groups, the emulator's state."""
