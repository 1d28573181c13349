"""A version's forms: in events, rows and listings."""

import pytest

from bucketsum.events.version import NULL, Version


@pytest.mark.parametrize(
    ("version", "entry", "is_null"),
    [(NULL, "null", True), (Version("null"), "null", True), (Version("v1"), "v1", False)],
)
def test_a_version_has_one_entry(version: Version, entry: str, *, is_null: bool) -> None:
    """No id and the id ``null`` are the same version, which a newer object overwrites."""
    assert (version.entry, version.is_null) == (entry, is_null)
    assert Version.of_entry(entry).entry == entry
    assert Version.of_entry(entry).id == (None if is_null else entry)
