"""BagIt bags in a bucket, validated from what is recorded."""
