"""Everything the documents name exists, and their tables agree with the template."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from itertools import chain
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

COMMENT: Final = re.compile(r"(?m)^\s*%")
"""The site leaves out lines that begin with a percent sign; GitHub shows them."""

FILE_NAME: Final = re.compile(r"[\w.-]+\.(py|yaml|yml|toml|lock|md|json|svg|txt)")

IN_CODE_TYPE: Final = re.compile(r"[A-Z][a-z]+(?:[A-Z][A-Za-z0-9]*)+|[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+")
"""A name of ours as a person sees it: ``MemorySize``, ``CHUNK_BYTES``."""

AWS_NAMES: Final = frozenset(
    {"GetItem", "AWS_DEFAULT_REGION", "AWS_PROFILE", "CAPABILITY_RESOURCE_POLICY", "VmHWM"}
)
"""Names that the documents use and this repository need not."""

DECISION_HEADINGS: Final = ["Problem", "Decision", "Why", "Out of scope", "Measured effect"]


TEMPLATE_BODY_MAX_BYTES: Final = 51_200
"""[A] CloudFormation's limit for a template in a request; one in a bucket may have 1 MB."""

README_LINES_MAX: Final = 110

WORDS_MAX: Final = 15_000
"""Of all documents that a person wrote, without decisions."""


def documents() -> Iterator[Document]:
    """Every document; pytest takes longer for a test of each than they take."""
    return map(Document.read, [*DOCUMENTS, *MEASUREMENTS])


def own_files() -> Iterator[Path]:
    """Every file of the repository, without what is made."""
    for parent, folders, names in os.walk(ROOT):
        folders[:] = [
            name for name in folders if not name.startswith(".") or name in (".ci", ".github")
        ]
        yield from (Path(parent, name) for name in names)


def source_words() -> frozenset[str]:
    """The words of all code and configuration, without the documents."""
    kinds = (".py", ".yaml", ".toml", "Makefile", "release.yml")
    return frozenset(
        word
        for path in own_files()
        if path.name.endswith(kinds) and path.name not in ("test_docs.py", "documents.py")
        for word in re.findall(r"\w+", path.read_text(encoding="utf-8"))
    )


def test_links_lead_somewhere() -> None:
    """Every link within the repository leads to a file, and to a heading where it names one."""
    for path, link in ((page.path, link) for page in documents() for link in page.links()):
        if link.startswith(("https://", "mailto:")):
            continue
        name, _, anchor = link.partition("#")
        target = (path.parent / name).resolve() if name else path
        assert target.is_file() or (not anchor and target.is_dir()), (path, link)
        assert target.is_relative_to(ROOT), (path, link)
        assert not anchor or anchor in Document.read(target).anchors(), (path, link)


def test_make_targets_exist() -> None:
    """Every `make TARGET` is a target of the Makefile."""
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = set(re.findall(r"^([a-z]+):", makefile, re.MULTILINE))
    for document in documents():
        words = {word for call in document.commands("make") for word in call if "=" not in word}
        named = {word for word in words if not word.startswith("#")}
        assert named <= targets, document.path


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


def test_commands_are_taken() -> None:
    """Every call of `bucketsum` names a command that exists, with options that it has."""
    for document in documents():
        for call in chain.from_iterable(map(alternatives, document.commands("bucketsum"))):
            assert not refused(call), (document.path, call)


def test_a_wrong_command_would_be_found() -> None:
    """A command or an option that does not exist is refused, at every level."""
    assert refused(["lists"])
    assert refused(["ls", "--versions"])
    assert refused(["local", "start"])
    assert not refused(["local", "up", "--parameter", "MemorySize=1024"])


def test_a_large_template_is_deployed_through_a_bucket() -> None:
    """The AWS CLI refuses a template above the limit, unless it may upload it to a bucket."""
    assert TEMPLATE.stat().st_size > TEMPLATE_BODY_MAX_BYTES
    for document in documents():
        for words in document.commands("aws"):
            is_deployment = words[:2] == ["cloudformation", "deploy"]
            assert not is_deployment or "--s3-bucket" in words, document.path


def test_files_exist() -> None:
    """Every path in code type exists in the repository, unless `make` makes it."""
    names = {path.name for path in own_files()}
    top = {path.name for path in ROOT.iterdir()} - set(MADE)
    for document in documents():
        for span in set(document.code_spans()):
            if "/" in span and span.split("/")[0] in top and " " not in span:
                assert list(ROOT.glob(span.rstrip("/"))), (document.path, span)
            elif FILE_NAME.fullmatch(span) and span not in ("uv.lock", "app.py", "deploy.toml"):
                assert span in names, (document.path, span)


def test_names_are_those_of_the_code() -> None:
    """Every name in code type is one that code or template has: nothing was renamed behind it."""
    words = source_words()
    for document in documents():
        named = {span for span in document.code_spans() if IN_CODE_TYPE.fullmatch(span)}
        unknown = {
            name
            for name in named - AWS_NAMES - words
            if not any(word.startswith(name) for word in words)
        }
        assert not unknown, document.path


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


@pytest.mark.parametrize("pattern", [MACHINE_PATH, COMMENT], ids=["machine", "comment"])
def test_no_path_of_a_machine_and_no_comment(pattern: re.Pattern[str]) -> None:
    """No place that only its author's machine has, and no line that only GitHub shows."""
    for path in [*DOCUMENTS, *MEASUREMENTS]:
        assert not pattern.search(path.read_text(encoding="utf-8")), path


def test_lines_have_at_most_100_columns() -> None:
    """Tables, code, pictures and addresses cannot be wrapped; all other lines are."""
    for path in DOCUMENTS:
        text = re.sub(r"(?ms)^```.*?^```", "", path.read_text(encoding="utf-8"))
        long = [line for line in text.splitlines() if len(line) > 100 and "](https://" not in line]
        assert not [line for line in long if not line.startswith(("|", "  |", "![", "> "))], path


def test_pictures_refer_to_nothing_outside() -> None:
    """The only address in a picture is SVG's namespace: no font, style sheet or script."""
    for path in ROOT.glob("docs/**/*.svg"):
        addresses = re.findall(r"https?://[^\"'\s<)]+", path.read_text(encoding="utf-8"))
        assert set(addresses) == {"http://www.w3.org/2000/svg"}, path


def test_largest_chunks_are_those_of_the_formula() -> None:
    """The documented formula and the table of largest chunks are what the settings enforce."""
    document = Document.read(ROOT / "docs" / "reference" / "parameters.md")
    text = document.path.read_text(encoding="utf-8")
    assert f"`{BASE_MEMORY_BYTES // 1_000_000} MB + 2 × ChunkBytes`" in text
    for memory_mb, chunk_bytes in document.table("`MemorySize`"):
        room = int(memory_mb) * MIB - BASE_MEMORY_BYTES
        assert int(chunk_bytes) == min(room // 2, CHUNK_BYTES_MAX)


def test_decisions_have_their_form_and_are_listed() -> None:
    """Each has its number, in a row, and the same headings; the list has each."""
    paths = sorted((ROOT / "docs" / "decisions").glob("[0-9]*.md"))
    for path in paths:
        text = path.read_text(encoding="utf-8")
        assert text.startswith(f"# {path.stem[:4]}: "), path
        assert re.findall(r"^## (.*)$", text, re.MULTILINE) == DECISION_HEADINGS, path
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
