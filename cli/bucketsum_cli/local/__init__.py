"""The embedded AWS on this machine: `bucketsum local`."""
