"""The messages that AWS really sends to the hasher, as files; see README.md."""
