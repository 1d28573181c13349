"""Manifests: lists of digests and names, in the formats of other programs."""
