"""Publishes the prober in other memory sizes, and removes what was published."""
