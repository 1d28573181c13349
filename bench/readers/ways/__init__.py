"""The ways of reading that are compared. Each module imports what its own ways need, no more."""
