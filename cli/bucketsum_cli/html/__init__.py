"""HTML pages that need no other file: elements, tables and one style."""
