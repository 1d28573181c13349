"""queue → digest → ledger."""
