"""The same sweep on the local emulator and in the sandbox."""
