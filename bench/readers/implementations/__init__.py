"""Readers to compare. Each module imports only its own libraries."""
