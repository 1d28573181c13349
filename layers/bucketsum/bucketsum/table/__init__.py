"""The digests table: rows, their items, conditional writes."""
