"""Tables, spreads, the machine and process meters of all benchmarks."""
