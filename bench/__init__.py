"""Side-by-side benchmarks in Lambda's shape; each is a module, `make bench` runs them all."""
