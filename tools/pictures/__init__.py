"""Pictures of README and docs, each for light and dark pages, and for phones."""
