"""Plans sweeps and makes the objects that they read."""
