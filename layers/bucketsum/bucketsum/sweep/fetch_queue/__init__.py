"""Archives fetched and processed: all first, just in time, or without a disk."""
