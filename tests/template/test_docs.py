"""Everything the documents name exists, and their tables agree with the template."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Final

import click
import pytest
import yaml
from tests.support.documents import DOCUMENTS, MEASUREMENTS, ROOT, Document, words_by_hand
from tests.support.sam_template import TEMPLATE, load_template
from tools.reference.pages import pages

from bucketsum.backfill.plan import enqueuers_for
from bucketsum.memory import BASE_MEMORY_BYTES, CHUNK_BYTES_MAX
from bucketsum_cli.commands.root import cli
from bucketsum_cli.stacks.event_sources import MAXIMA, executions_of

MIB: Final = 1024 * 1024

MADE: Final = ("dist", ".venv", ".bucketsum", ".aws-sam")
"""Folders that exist only after `make`."""

MACHINE_PATH: Final = re.compile(r"(?<![\w.*$}])/(home|root|tmp|work|Users|var/folders)(/|\b)")

FILE_NAME: Final = re.compile(r"[\w.-]+\.(py|yaml|yml|toml|lock|md|json|svg|txt)")

IN_CODE_TYPE: Final = re.compile(r"[A-Z][a-z]+(?:[A-Z][A-Za-z0-9]*)+|[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+")
"""A name of ours as a person sees it: ``MemorySize``, ``CHUNK_BYTES``."""

AWS_NAMES: Final = frozenset(
    {"GetItem", "AWS_DEFAULT_REGION", "AWS_PROFILE", "CAPABILITY_RESOURCE_POLICY", "VmHWM"}
)
"""Names that the documents use and this repository need not."""

DECISION_HEADINGS: Final = ["Problem", "Decision", "Why", "Out of scope", "Measured effect"]


def each_of(paths: list[Path]) -> pytest.MarkDecorator:
    """The test runs for each document."""
    names = [str(path.relative_to(ROOT)) for path in paths]
    return pytest.mark.parametrize("document", paths, ids=names, indirect=True)


@pytest.fixture
def document(request: pytest.FixtureRequest) -> Document:
    """The document, parsed once it is needed: every worker collects all tests."""
    return Document.read(request.param)


documents = each_of([*DOCUMENTS, *MEASUREMENTS])

TEMPLATE_BODY_MAX_BYTES: Final = 51_200
"""[A] CloudFormation's limit for a template in a request; one in a bucket may have 1 MB."""

README_LINES_MAX: Final = 110

WORDS_MAX: Final = 15_000
"""Of all documents that a person wrote, without decisions."""


def own_files() -> Iterator[Path]:
    """Every file of the repository, without what is made."""
    for parent, folders, names in os.walk(ROOT):
        folders[:] = [
            name for name in folders if not name.startswith(".") or name in (".ci", ".github")
        ]
        yield from (Path(parent, name) for name in names)


@cache
def file_names() -> frozenset[str]:
    """The names of these files."""
    return frozenset(path.name for path in own_files())


@cache
def source_words() -> frozenset[str]:
    """The words of all code and configuration, without the documents."""
    kinds = (".py", ".yaml", ".toml", "Makefile", "release.yml")
    return frozenset(
        word
        for path in own_files()
        if path.name.endswith(kinds) and path.name not in ("test_docs.py", "documents.py")
        for word in re.findall(r"\w+", path.read_text(encoding="utf-8"))
    )


@documents
def test_links_lead_somewhere(document: Document) -> None:
    """Every link within the repository leads to a file, and to a heading where it names one."""
    for link in document.links():
        if link.startswith(("https://", "mailto:")):
            continue
        name, _, anchor = link.partition("#")
        target = (document.path.parent / name).resolve() if name else document.path
        assert target.is_file() or (not anchor and target.is_dir()), link
        assert target.is_relative_to(ROOT), link
        if anchor:
            assert anchor in Document.read(target).anchors(), link


@documents
def test_make_targets_exist(document: Document) -> None:
    """Every `make TARGET` is a target of the Makefile."""
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = set(re.findall(r"^([a-z]+):", makefile, re.MULTILINE))
    named = {
        word
        for call in document.commands("make")
        for word in call
        if "=" not in word and not word.startswith("#")
    }
    assert named <= targets


def refused(arguments: list[str]) -> str:
    """Why the command would not take *arguments*; empty where it would."""
    command: click.Command = cli
    context = click.Context(cli)
    words = list(arguments)
    while isinstance(command, click.Group) and words and not words[0].startswith("-"):
        name = words.pop(0)
        subcommand = command.get_command(context, name)
        if subcommand is None:
            return f"no command {name}"
        command = subcommand
    known = {option for parameter in command.params for option in parameter.opts} | {"--help", "-h"}
    unknown = [word for word in words if word[:1] == "-" != word and word not in known]
    return f"no option {unknown} of {command.name}" if unknown else ""


def alternatives(arguments: list[str]) -> list[list[str]]:
    """``local up|down`` stands for ``local up`` and ``local down``."""
    calls: list[list[str]] = [[]]
    for word in arguments:
        choices = word.split("|") if re.fullmatch(r"[a-z]+(\|[a-z]+)+", word) else [word]
        calls = [[*call, choice] for call in calls for choice in choices]
    return calls


@documents
def test_commands_are_taken(document: Document) -> None:
    """Every call of `bucketsum` names a command that exists, with options that it has."""
    for arguments in document.commands("bucketsum"):
        for call in alternatives(arguments):
            assert not refused(call), call


def test_a_wrong_command_would_be_found() -> None:
    """A command or an option that does not exist is refused, at every level."""
    assert refused(["lists"])
    assert refused(["ls", "--versions"])
    assert refused(["local", "start"])
    assert not refused(["local", "up", "--parameter", "MemorySize=1024"])


@documents
def test_a_large_template_is_deployed_through_a_bucket(document: Document) -> None:
    """The AWS CLI refuses a template above the limit, unless it may upload it to a bucket."""
    assert TEMPLATE.stat().st_size > TEMPLATE_BODY_MAX_BYTES
    for words in document.commands("aws"):
        if words[:2] == ["cloudformation", "deploy"]:
            assert "--s3-bucket" in words


@documents
def test_files_exist(document: Document) -> None:
    """Every path in code type exists in the repository, unless `make` makes it."""
    names = file_names()
    top = {path.name for path in ROOT.iterdir()}
    for span in document.code_spans():
        first = span.split("/")[0]
        if "/" in span and first in top - set(MADE) and " " not in span:
            assert list(ROOT.glob(span.rstrip("/"))), span
        elif FILE_NAME.fullmatch(span) and span not in ("uv.lock", "app.py", "deploy.toml"):
            assert span in names, span


@documents
def test_names_are_those_of_the_code(document: Document) -> None:
    """Every name in code type is one that code or template has: nothing was renamed behind it."""
    words = source_words()
    named = {span for span in document.code_spans() if IN_CODE_TYPE.fullmatch(span)}
    unknown = named - AWS_NAMES - words
    assert not {name for name in unknown if not any(word.startswith(name) for word in words)}


def test_generated_pages_are_fresh() -> None:
    """Every generated page and table is what `make reference` writes."""
    for path, text in pages().items():
        assert path.read_text(encoding="utf-8") == text, path


def test_documents_are_short() -> None:
    """All pages that a person wrote have at most 15,000 words together."""
    words = {str(path): words_by_hand(path) for path in DOCUMENTS if "decisions" not in path.parts}
    assert sum(words.values()) <= WORDS_MAX, words


def test_readme_is_short() -> None:
    """Somebody new reads all of it."""
    assert len((ROOT / "README.md").read_text("utf-8").splitlines()) <= README_LINES_MAX


def test_readme_names_every_command() -> None:
    """A command that nobody can find in README might as well not be there."""
    named = set(Document.read(ROOT / "README.md").code_spans())
    assert not set(cli.list_commands(click.Context(cli))) - named


def test_the_measurements_have_a_row_for_the_default() -> None:
    """A reader sees in the first table what the memory size of a new stack gives."""
    text = (ROOT / "docs" / "measurements.md").read_text("utf-8")
    assert f"\n| {load_template()['Parameters']['MemorySize']['Default']} MB, " in text


def test_the_number_of_planted_bugs_is_counted() -> None:
    """README and Reliability say how many bugs the simulation finds: as many as the table has."""
    planted = Document.read(ROOT / "bench" / "measured" / "planted_bugs.md").table("planted bug")
    for page in ("README.md", "docs/explanation/reliability.md"):
        text = (ROOT / page).read_text(encoding="utf-8")
        assert re.findall(r"\[(\d+) bugs\]", text) == [str(len(planted))]


def test_every_page_is_listed() -> None:
    """docs/README.md links every page, once."""
    docs = ROOT / "docs"
    pages_listed = list(Document.read(docs / "README.md").links())
    pages_there = {str(path.relative_to(docs)) for path in docs.rglob("[!0-9R]*.md")}
    assert pages_there <= set(pages_listed)
    assert len(pages_listed) == len(set(pages_listed))


def test_tests_of_the_security_page_exist() -> None:
    """A threat whose test was renamed or removed would only seem to be tested."""
    page = (ROOT / "docs" / "explanation" / "security.md").read_text(encoding="utf-8")
    suites = [path.read_text(encoding="utf-8") for path in (ROOT / "tests").rglob("test_*.py")]
    named = set(re.findall(r"`(test_\w+)`", page))
    assert named
    assert not {name for name in named if not any(f"def {name}(" in text for text in suites)}


@documents
def test_no_path_of_a_machine(document: Document) -> None:
    """No document names a place that only its author's machine has."""
    assert not MACHINE_PATH.search(document.path.read_text(encoding="utf-8"))


@each_of(DOCUMENTS)
def test_lines_have_at_most_100_columns(document: Document) -> None:
    """Tables, code, pictures and addresses cannot be wrapped; all other lines are."""
    text = re.sub(r"(?ms)^```.*?^```", "", document.path.read_text(encoding="utf-8"))
    long = [line for line in text.splitlines() if len(line) > 100 and "](https://" not in line]
    assert not [line for line in long if not line.startswith(("|", "  |", "![", "> "))]


@documents
def test_no_line_begins_as_a_comment(document: Document) -> None:
    """The site leaves out lines that begin with a percent sign; GitHub shows them."""
    assert not re.findall(r"(?m)^\s*%.*$", document.path.read_text(encoding="utf-8"))


@pytest.mark.parametrize("path", sorted(ROOT.glob("docs/**/*.svg")), ids=lambda path: path.name)
def test_pictures_refer_to_nothing_outside(path: Path) -> None:
    """The only address in a picture is SVG's namespace: no font, style sheet or script."""
    addresses = re.findall(r"https?://[^\"'\s<)]+", path.read_text(encoding="utf-8"))
    assert set(addresses) == {"http://www.w3.org/2000/svg"}


def test_largest_chunks_are_those_of_the_formula() -> None:
    """The documented formula and the table of largest chunks are what the settings enforce."""
    document = Document.read(ROOT / "docs" / "reference" / "parameters.md")
    text = document.path.read_text(encoding="utf-8")
    assert f"`{BASE_MEMORY_BYTES // 1_000_000} MB + 2 × ChunkBytes`" in text
    for memory_mb, chunk_bytes in document.table("`MemorySize`"):
        room = int(memory_mb) * MIB - BASE_MEMORY_BYTES
        assert int(chunk_bytes) == min(room // 2, CHUNK_BYTES_MAX)


def decisions() -> list[Path]:
    """The decisions, in order."""
    return sorted((ROOT / "docs" / "decisions").glob("[0-9]*.md"))


@pytest.mark.parametrize("path", decisions(), ids=lambda path: path.stem)
def test_decisions_have_their_form(path: Path) -> None:
    """Every decision has its number in its title, and the same headings in the same order."""
    text = path.read_text(encoding="utf-8")
    assert text.startswith(f"# {path.stem[:4]}: ")
    assert re.findall(r"^## (.*)$", text, re.MULTILINE) == DECISION_HEADINGS


def test_decisions_are_listed() -> None:
    """They are numbered from 1 without a gap, and each is in the list."""
    paths = decisions()
    assert [int(path.stem[:4]) for path in paths] == list(range(1, len(paths) + 1))
    listed = Document.read(ROOT / "docs" / "decisions" / "README.md").links()
    assert list(listed) == [path.name for path in paths]


def test_continuous_integration_is_the_documented_commands() -> None:
    """Every change runs what the documents tell a person to run, within 30 minutes."""
    script = ROOT / ".ci" / "run"
    text = script.read_text(encoding="utf-8")
    assert os.access(script, os.X_OK)
    assert [line.split(" #")[0] for line in text.splitlines() if line.startswith("make")] == [
        "make setup",
        "make check",
        "make test",
    ]
    workflow = yaml.safe_load((ROOT / ".github" / "workflows" / "ci.yml").read_text("utf-8"))
    job = workflow["jobs"]["check-and-test"]
    assert [step["run"] for step in job["steps"] if "run" in step] == ["bash .ci/run"]
    assert job["timeout-minutes"] <= 30


AS_INSTALLED: Final = """
import sys
from importlib.metadata import distribution, packages_distributions
from packaging.requirements import Requirement

def brought(name, seen):
    if name not in seen:
        seen.add(name)
        for requirement in map(Requirement, distribution(name).requires or ()):
            if requirement.marker is None or requirement.marker.evaluate({"extra": ""}):
                brought(requirement.name.lower().replace("_", "-"), seen)
    return seen

there = brought("bucketsum", set())
absent = {
    module
    for module, owners in packages_distributions().items()
    if not {owner.lower().replace("_", "-") for owner in owners} & there
}

class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in absent:
            raise ModuleNotFoundError(f"No module named {name!r}")

for module in absent & {name.split(".")[0] for name in sys.modules}:
    for name in [loaded for loaded in sys.modules if loaded.split(".")[0] == module]:
        del sys.modules[name]
sys.meta_path.insert(0, Absent())
from bucketsum_cli.main import main
main()
"""
"""Runs the command where only what `bucketsum` requires without extras can be imported."""


@pytest.mark.parametrize(
    "arguments", [("--help",), ("tune", "report", "--help"), ("local", "--help")]
)
def test_the_command_starts_as_it_is_installed(arguments: tuple[str, ...]) -> None:
    """`uv tool install .` brings no extras; what does not ask for them works."""
    done = subprocess.run(
        [sys.executable, "-c", AS_INSTALLED, *arguments],
        capture_output=True,
        text=True,
        check=False,
        cwd=ROOT,
    )
    assert done.returncode == 0, done.stderr
    assert "Usage:" in done.stdout


def test_numbers_of_executions_are_those_that_status_computes() -> None:
    """A person whose account is new deploys what fits, and knows what to ask AWS for."""
    parameters = load_template()["Parameters"]
    description = " ".join(parameters["BackfillConcurrency"]["Description"].split())
    assert all(name in description for name in ("MaximumConcurrency", "LongObjectConcurrency"))
    [share] = map(int, re.findall(r"for each (\d+)", description))
    assert (enqueuers_for(share), enqueuers_for(share + 1)) == (1, 2)
    wanted = executions_of({name: parameters[name]["Default"] for name in MAXIMA})
    assert f"{wanted} concurrent executions" in (ROOT / "README.md").read_text("utf-8")
    tutorial = (ROOT / "docs" / "start" / "on-aws.md").read_text("utf-8")
    [quota] = re.findall(r"allows only (\d+) concurrent executions", tutorial)
    lowered = {name: int(value) for name, value in re.findall(r"(\w+)=(\d+)", tutorial)}
    assert executions_of({name: lowered[name] for name in MAXIMA}) == int(quota)
