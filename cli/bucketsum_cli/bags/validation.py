"""Whether a bag is valid, from the states and digests of its objects."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final
from unicodedata import normalize

from bucketsum.table.state import ObjectState
from bucketsum_cli.bags.results import BagProblem, BagResult, Verdict
from bucketsum_cli.bags.tag_files import (
    DECLARATION,
    FETCH,
    INFO,
    PAYLOAD,
    BadTagFile,
    BagManifest,
    Declaration,
    Fetch,
    declaration_in,
    fetches_in,
    is_tag_file,
    manifest_in,
    tags_in,
)

_OXUM: Final = "payload-oxum"
_INVALID: Final = frozenset({ObjectState.DIFFERS, ObjectState.DAMAGED, ObjectState.REPAIRED})


@dataclass(frozen=True, slots=True)
class BagFile:
    """An object of a bag: its size, its state, and its recorded digests by algorithm."""

    size_bytes: int
    state: ObjectState
    digests: Mapping[str, str]
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class _Bag:
    """The objects of a bag, and what its tag files say."""

    files: Mapping[str, BagFile]
    declared: Declaration
    manifests: Sequence[BagManifest] = ()
    fetches: Mapping[str, Fetch] = field(default_factory=dict)
    oxums: Sequence[str] = ()

    @property
    def payload(self) -> list[BagFile]:
        """The files below data/."""
        return [file for path, file in self.files.items() if path.startswith(PAYLOAD)]


def validated(bag: str, files: Mapping[str, BagFile], read: Callable[[str], bytes]) -> BagResult:
    """Validate the *bag* of *files*, of which only small tag files are *read*."""
    contents: dict[str, bytes] = {}
    problems: list[BagProblem] = []
    compared: set[str] = set()
    for path in sorted(filter(is_tag_file, files)):
        try:
            contents[path] = read(path)
        except BadTagFile as error:
            problems.append(BagProblem(path, str(error), Verdict.CANNOT_TELL))
    if DECLARATION not in files:
        problems.append(BagProblem(DECLARATION, "it is missing"))
    elif not problems:  # else what was not read could say the contrary
        parsed, bad = _parsed(_with_read(files, contents), contents)
        problems += bad
        if parsed:
            problems += _problems_of(parsed)
            compared = _compared(parsed)
    payload = [file for path, file in files.items() if path.startswith(PAYLOAD)]
    verdicts = {problem.verdict for problem in problems}
    worst = [verdict for verdict in (Verdict.INVALID, Verdict.CANNOT_TELL) if verdict in verdicts]
    size_bytes = sum(file.size_bytes for file in payload)
    verdict = next(iter(worst), Verdict.VALID)
    return BagResult(bag, verdict, len(payload), size_bytes, sorted(compared), problems)


def _with_read(files: Mapping[str, BagFile], contents: Mapping[str, bytes]) -> dict[str, BagFile]:
    """The *files*; those that were read have the digests of their *contents* too."""
    known = dict(files)
    for path, content in contents.items():
        file = files[path]
        digests = {name: hashlib.new(name, content, usedforsecurity=False).hexdigest()
                   for name in ("md5", "sha1", "sha224", "sha256", "sha384", "sha512")}  # fmt: skip
        state, reason = file.state, file.reason
        if state is ObjectState.NOT_RECORDED:
            state = ObjectState.HASHED
        elif any(file.digests.get(name, digest) != digest for name, digest in digests.items()):
            state, reason = ObjectState.DIFFERS, "S3 returns other bytes than the recorded ones"
        known[path] = BagFile(file.size_bytes, state, digests, reason)
    return known


def _parsed(
    files: Mapping[str, BagFile], contents: Mapping[str, bytes]
) -> tuple[_Bag | None, list[BagProblem]]:
    """The contents of the tag files, and their problems.

    A manifest may call a file in another Unicode form; here it has the file's path.
    """
    forms = {normalize("NFC", path): path for path in files}
    problems = []
    try:
        declared = declaration_in(contents[DECLARATION])
    except BadTagFile as error:
        return None, [BagProblem(DECLARATION, str(error))]
    manifests = []
    fetches: dict[str, Fetch] = {}
    oxums: list[str] = []
    for path, content in contents.items():
        try:
            if path in INFO:
                tags = tags_in(declared.text_of(content))
                oxums += [value for label, value in tags if label.lower() == _OXUM]
            elif path == FETCH:
                fetches = {line.path: line for line in fetches_in(declared.text_of(content))}
            elif manifest := manifest_in(path, content, declared):
                digests = {name if name in files else forms.get(normalize("NFC", name), name): value
                           for name, value in manifest.digests.items()}  # fmt: skip
                manifests.append(replace(manifest, digests=digests))
        except BadTagFile as error:
            problems.append(BagProblem(path, str(error)))
    return _Bag(files, declared, manifests, fetches, oxums), problems


def _problems_of(bag: _Bag) -> Iterator[BagProblem]:
    payload = [manifest for manifest in bag.manifests if not manifest.is_of_tags]
    if not payload:
        yield BagProblem("manifest-*.txt", "there is no payload manifest that can be read")
    listed: dict[str, dict[str, str]] = {}
    for manifest in bag.manifests:
        for path, digest in manifest.digests.items():
            listed.setdefault(path, {})[manifest.algorithm] = digest
    for path in sorted({*listed, *filter(is_tag_file, bag.files)}):
        yield from _problems_of_file(bag, path, listed.get(path, {}))
    yield from _problems_of_completeness(bag, payload, listed)
    yield from _problems_of_oxum(bag)


def _problems_of_file(bag: _Bag, path: str, listed: Mapping[str, str]) -> Iterator[BagProblem]:
    """The problems of the file at *path*, whose digests are *listed*."""
    file = bag.files.get(path)
    if file is None:
        fetch = bag.fetches.get(path)
        reason = f"it is to be fetched from {fetch.url}" if fetch else "it is missing"
        yield BagProblem(path, reason)
        return
    if file.state is not ObjectState.HASHED:
        verdict = Verdict.INVALID if file.state in _INVALID else Verdict.CANNOT_TELL
        reason = f"{file.state}: {file.reason}" if file.reason else file.state
        yield BagProblem(path, reason, verdict)
        return
    common = file.digests.keys() & listed.keys()
    if listed and not common:
        algorithms = ", ".join(sorted(listed))
        reason = f"its manifests have {algorithms}, recorded are {', '.join(sorted(file.digests))}"
        yield BagProblem(path, reason, Verdict.CANNOT_TELL)
    for name in sorted(common):
        if file.digests[name] != listed[name]:
            reason = f"its {name} is {file.digests[name]}, the manifest's {listed[name]}"
            yield BagProblem(path, reason)


def _problems_of_completeness(
    bag: _Bag, manifests: Sequence[BagManifest], listed: Collection[str]
) -> Iterator[BagProblem]:
    """Payload files that are in no manifest, or since 1.0 not in each; and fetched ones."""
    for path in sorted({*bag.files, *bag.fetches} - set(listed)):
        if path.startswith(PAYLOAD):
            yield BagProblem(path, "no payload manifest lists it")
        elif path in bag.fetches:
            yield BagProblem(path, f"{FETCH} lists it, and it is not below {PAYLOAD}")
    everything = {path for manifest in manifests for path in manifest.digests}
    for manifest in manifests if bag.declared.is_strict else ():
        for path in sorted(everything - manifest.digests.keys()):
            yield BagProblem(path, f"{manifest.path} does not list it")
    for path, fetch in bag.fetches.items():
        file = bag.files.get(path)
        if file and fetch.size_bytes not in (None, file.size_bytes):
            reason = f"it has {file.size_bytes} bytes, {FETCH} says {fetch.size_bytes}"
            yield BagProblem(path, reason)


def _problems_of_oxum(bag: _Bag) -> Iterator[BagProblem]:
    expected = f"{sum(file.size_bytes for file in bag.payload)}.{len(bag.payload)}"
    for oxum in bag.oxums:
        if oxum != expected:
            yield BagProblem(INFO[0], f"its Payload-Oxum is {oxum}, the payload's is {expected}")


def _compared(bag: _Bag) -> set[str]:
    """The algorithms of payload manifests that some file has a digest of."""
    return {
        manifest.algorithm
        for manifest in bag.manifests
        if not manifest.is_of_tags and any(manifest.algorithm in f.digests for f in bag.payload)
    }
