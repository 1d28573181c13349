"""Failed messages, and the dead-letter queue."""
