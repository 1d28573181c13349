"""The dead-letter queue: its messages, and their way back."""
