"""Texts for a terminal: output, tables, numbers, errors."""
