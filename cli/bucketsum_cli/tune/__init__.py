"""`bucketsum tune`: start sweeps, show their results, apply their recommendations."""
