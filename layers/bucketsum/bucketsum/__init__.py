"""Library of the hasher and of the sweep's functions.

Read the modules in the order in which data travels: `notifications` → `batch` → `hashing` →
`s3` → `digest` → `digests_table`, and `dead_letters` for a message that failed.
"""

__version__ = "0.1.0"
