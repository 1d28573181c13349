"""From samples to a recommendation."""
