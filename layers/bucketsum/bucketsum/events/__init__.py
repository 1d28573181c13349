"""Object events and the messages that bring them."""
