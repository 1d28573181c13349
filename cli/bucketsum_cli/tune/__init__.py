"""`bucketsum tune`: start sweeps, read what they measured, deploy what they recommend."""
