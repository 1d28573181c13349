"""Library of the functions that hash: hasher, slicer and enqueuer.

Read it in the order in which data travels: `events` → `hashing` → `s3` → `digest` → `table`, and
`queue` for a message that failed; then `archives`, `long_objects` and `backfill`.
"""

__version__ = "0.1.0"
