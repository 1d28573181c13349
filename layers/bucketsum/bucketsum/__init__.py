"""Library of the functions that hash: hasher, slicer and enqueuer.

Read it in the order in which data travels: `events` → `hashing` → `s3` → `digest` → `table`, and
`queue` for a message that failed; then `archives`, `long_objects` and `backfill`.

Other programs may rely on `__version__` alone. All modules are for the functions, the command and
the lab, and change without notice; docs/how-to/from-a-program.md shows how to read digests without
them.
"""

__all__ = ["__version__"]
__version__ = "0.1.0"
