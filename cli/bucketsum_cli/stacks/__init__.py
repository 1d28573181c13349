"""State, metrics and deletion of a stack."""
