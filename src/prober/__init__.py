"""Reads one object as the hasher does, and says what that took."""
