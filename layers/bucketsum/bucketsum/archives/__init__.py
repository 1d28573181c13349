"""A zip archive → its members, each checked, hashed and recorded."""
