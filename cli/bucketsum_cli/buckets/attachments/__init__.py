"""Buckets attached to a stack: their notifications, their permissions, and changes of both."""
