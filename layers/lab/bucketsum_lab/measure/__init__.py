"""The prober, and its published versions."""
