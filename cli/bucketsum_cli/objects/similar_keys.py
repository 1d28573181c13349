"""Keys that look like a missing one: other Unicode form, other case, blanks around."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Final
from unicodedata import normalize

from bucketsum_cli.aws.stack import Stack
from bucketsum_cli.objects.versions import newest_versions

_KEYS: Final = 100
_FOLDERS: Final = 10


def similar_keys(stack: Stack, missing: Iterable[str]) -> Mapping[str, str]:
    """Return key → similar key, for some of *missing*; ten folders are listed for other cases."""
    forms = {
        form: key
        for key in [*missing][:_KEYS]
        for form in (normalize("NFC", key), normalize("NFD", key), key.strip())
        if form != key
    }
    similar = {
        forms[form]: form for form, newest, _ in newest_versions(stack, forms) if newest is not None
    }
    folders: defaultdict[str, dict[str, str]] = defaultdict(dict)
    for key in [*missing][:_KEYS]:
        folders[key.rpartition("/")[0]][_folded(key)] = key
    s3 = stack.client("s3")
    for folder, folded in [*folders.items()][:_FOLDERS]:
        prefix = f"{folder}/" if folder else ""
        page = s3.list_object_versions(Bucket=stack.bucket, Prefix=prefix)
        present = [entry["Key"] for entry in page.get("Versions", ()) if entry["IsLatest"]]
        similar |= {folded[_folded(key)]: key for key in present if _folded(key) in folded}
    return similar


def _folded(key: str) -> str:
    return normalize("NFC", key).casefold().strip()
