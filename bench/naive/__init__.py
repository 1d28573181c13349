"""What bucketsum is compared with: the function that one writes first."""
