"""State and deletion of a stack."""
