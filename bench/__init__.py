"""What is promised about speed and memory, measured. `make bench` runs all of it."""
