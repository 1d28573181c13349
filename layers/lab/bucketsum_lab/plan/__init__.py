"""From a sweep's input to its cells."""
