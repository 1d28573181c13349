"""`bucketsum selftest`: checks that prove the whole chain on a deployed stack."""
