"""From a batch of messages to recorded digests."""
