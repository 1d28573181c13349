"""Every error is a sentence on stderr with status 2, never a traceback."""

import operator
import os
import re
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Final
from unittest.mock import Mock

import click
import pytest
from tests.cli.conftest import Run
from tests.cli.deployed import put_and_record

from bucketsum_cli.arguments.buckets import BucketName, BucketPlace
from bucketsum_cli.aws import stack_description
from bucketsum_cli.aws.connection import connection_to
from bucketsum_cli.aws.stack import Stack
from bucketsum_cli.commands import root
from bucketsum_cli.commands.lab import is_installed
from bucketsum_cli.commands.lazy_group import LazyGroup
from bucketsum_cli.terminal import output

COMMAND: Final = ("-c", "from bucketsum_cli.main import main; main()")


def python(
    *arguments: str, stdout: int = subprocess.PIPE, **variables: str
) -> subprocess.CompletedProcess[str]:
    """Python in a process of its own, which imports what this one does."""
    return subprocess.run(
        [sys.executable, *arguments],
        stdout=stdout,
        stderr=subprocess.PIPE,
        encoding="utf-8",
        check=False,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), **variables},
    )


def run_as_process(*arguments: str, stdout: str | int, **variables: str) -> tuple[int, str]:
    """Exit status and stderr of the command, whose stdout goes to a file or a pipe."""
    target = stdout if isinstance(stdout, int) else os.open(stdout, os.O_WRONLY)
    done = python(*COMMAND, *arguments, stdout=target, **variables)
    os.close(target)
    return done.returncode, done.stderr


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full")  # noqa: PTH110 - short
def test_full_disk_is_a_sentence() -> None:
    """The error is printed once, and Python prints nothing more at its exit."""
    status, err = run_as_process("--help", stdout="/dev/full")
    assert (status, err) == (2, "Error: the output cannot be written: No space left on device\n")


def test_closed_pipe_is_no_failure() -> None:
    """`bucketsum --help | head -1` may close its end before all is shown."""
    read_end, write_end = os.pipe()
    os.close(read_end)
    assert run_as_process("--help", stdout=write_end) == (0, "")


def test_closed_stdout_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    """After `>&-` nobody can see a result, so that success would be a lie."""
    monkeypatch.setattr(sys, "stdout", None)
    assert root.run() == 2


@pytest.mark.usefixtures("stack")
def test_a_note_without_stderr_is_dropped(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """After `2>&-`, stdout has the result alone."""
    monkeypatch.setattr(sys, "stderr", None)
    ended = run("show", "nosuch")
    assert (ended.status, ended.out) == (1, "")
    monkeypatch.setattr(root, "run", Mock(side_effect=KeyboardInterrupt))
    assert run("show", "nosuch").status == 130


def test_a_file_on_stdout_is_utf_8() -> None:
    """An escape in a list of sums or an export would be another key."""
    program = "from bucketsum_cli.terminal.output import print_text; print_text('日本')"
    done = python("-c", program, PYTHONIOENCODING="ascii:backslashreplace")
    assert done.stdout == "日本"


def test_output_without_utf_8_shows_escapes(tmp_path: Path) -> None:
    """A terminal that has ASCII alone is not a reason to fail after an upload."""
    shown = tmp_path / "shown"
    shown.touch()
    status, err = run_as_process("--help", stdout=str(shown), PYTHONIOENCODING="ascii")
    assert (status, err) == (0, "")
    program = "from bucketsum_cli import main\nfrom bucketsum_cli.commands import root as r\n"
    program += "from bucketsum_cli.terminal import output\n"
    program += "r.cli.main = lambda **_: output.say('日本')\nmain.main()"
    assert python("-c", program, PYTHONIOENCODING="ascii").stdout.split() == [r"\u65e5\u672c"]


@pytest.mark.usefixtures("stack")
@pytest.mark.parametrize(
    "arguments",
    [
        ("ls", "bad\udcff"), ("show", "bad\udcff"), ("ls", "--members", "bad\udcff"),
        ("put", __file__, "--prefix", "bad\udcff"), ("check", __file__, "--prefix", "bad\udcff"),
    ],
)  # fmt: skip
def test_argument_that_is_not_utf_8_is_a_sentence(run: Run, arguments: tuple[str, ...]) -> None:
    """Shells pass any bytes; keys are UTF-8."""
    ended = run(*arguments)
    assert ended.status in (1, 2)
    assert r"bad\udcff" in ended.err
    assert "Traceback" not in ended.err
    assert "rename" not in ended.err


@pytest.mark.parametrize(
    ("arguments", "variables"),
    [
        (("ls",), {"AWS_ENDPOINT_URL": "nonsense"}),
        (("ls", "--region", "not a region"), {}),
    ],
)
def test_invalid_endpoint_names_what_sets_it(
    run: Run,
    arguments: tuple[str, ...],
    variables: dict[str, str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Botocore raises a ValueError, or an error of its own; both are status 2."""
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    ended = run(*arguments)
    assert ended.status == 2
    assert ended.err.startswith("Error: ")


@pytest.mark.parametrize("option", ["--stack", "--region", "--profile"])
def test_a_name_of_spaces_is_refused(run: Run, option: str) -> None:
    """As an empty one; CloudFormation takes an empty stack name for all stacks."""
    run("ls", option, " ").assert_refused(option, "must not be empty")


def commands_of(group: LazyGroup, *path: str) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    """All commands of *group*, each with the words that name it."""
    for name in group.places:
        command = group.get_command(click.Context(group), name)
        assert command
        if isinstance(command, LazyGroup):
            yield from commands_of(command, *path, name)
        else:
            yield (*path, name), command


PARAMETERS: Final = [
    (words, parameter)
    for words, command in commands_of(root.cli)
    for parameter in command.params
    if not getattr(parameter, "is_flag", False)
]


def every(is_meant: Callable[[click.Parameter], bool]) -> pytest.MarkDecorator:
    """Run a test for each parameter of each command that *is_meant*."""
    meant = [(words, parameter) for words, parameter in PARAMETERS if is_meant(parameter)]
    names = [f"{' '.join(words)} {parameter.name}" for words, parameter in meant]
    return pytest.mark.parametrize(("words", "parameter"), meant, ids=names)


@every(lambda _: True)
def test_no_argument_and_no_option_may_be_empty(
    run: Run, words: tuple[str, ...], parameter: click.Parameter
) -> None:
    """`put "$UNSET"` would upload the current folder; this holds for what is to come too."""
    given = [parameter.opts[-1]] * isinstance(parameter, click.Option)
    run(*words, *given, "").assert_refused("Invalid value for", "it must not be empty")
    if given not in ([], ["--watch"]):  # `--bucket --local` names no bucket
        run(*words, *given, "-h").assert_refused("it is missing: -h is another option")


@every(lambda parameter: isinstance(parameter.type, click.Path | click.File))
def test_what_is_in_s3_is_not_a_file(
    run: Run, words: tuple[str, ...], parameter: click.Parameter
) -> None:
    """`put X s3://B` would look for the folder s3:, and an output would be written into it."""
    given = [parameter.opts[-1]] * isinstance(parameter, click.Option)
    refused = run(*words, *given, "S3://photos/a")
    refused.assert_refused("S3://photos/a is in S3; this must be on your machine")


@every(
    lambda parameter: (
        isinstance(parameter.type, BucketName | BucketPlace) or parameter.opts[-1] == "--bucket"
    )
)
def test_a_name_that_no_bucket_has_is_refused(
    run: Run, words: tuple[str, ...], parameter: click.Parameter
) -> None:
    """In our own words, before anything is asked of AWS, whose words would be a pattern."""
    given = [parameter.opts[-1]] * isinstance(parameter, click.Option)
    for name in ("a b", "x", "..", "s3://a_/", "photos\n", "b#c", "föhn"):
        run(*words, *given, name).assert_refused("is not a bucket name", "s3://BUCKET/KEY")
    run(*words, *given, "arn:aws:s3:::photos").assert_refused("give the bucket's name alone")


def test_each_option_of_an_output_file_says_that_it_is_replaced() -> None:
    """All commands do the same with a file that exists, as a shell's ``>`` does."""
    helps = [
        parameter.help or ""
        for _, command in commands_of(root.cli)
        for parameter in command.params
        if isinstance(parameter, click.Option) and "-o" in parameter.opts
    ]
    assert [text for text in helps if "An existing file is replaced." not in text] == []
    assert len(helps) == 7


def test_unexpected_error_is_a_sentence(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """A defect of bucketsum asks for a report; the traceback is at hand."""

    def fail(**_: object) -> None:
        raise RecursionError("too \x1b deep")

    monkeypatch.setattr(root.cli, "main", fail)
    run("ls").assert_refused(r"unexpected RecursionError: too \x1b deep", "BUCKETSUM_TRACEBACK=1")
    monkeypatch.setenv("BUCKETSUM_TRACEBACK", "1")
    with pytest.raises(RecursionError):
        root.run()


COMMANDS: Final = [root.cli.get_command(click.Context(root.cli), name) for name in root.cli.places]
GROUPS: Final = [root.cli, *(command for command in COMMANDS if isinstance(command, click.Group))]


@pytest.mark.parametrize("group", GROUPS, ids=operator.attrgetter("name"))
def test_a_group_has_the_names_that_click_suggests(group: click.Group) -> None:
    """From 8.4 on, click answers `stauts` with "Did you mean 'status'?", from `commands`."""
    assert list(group.commands) == group.list_commands(click.Context(group))


def test_the_help_has_each_command_with_the_first_line_of_its_own_help(run: Run) -> None:
    """The texts stand in the group too, so that the help need not import all commands."""
    shown = run("--help").out
    for name in root.cli.places:
        command = root.cli.get_command(click.Context(root.cli), name)
        assert command
        text = re.escape(command.get_short_help_str(100))
        assert re.search(rf"^  {name} +{text}$", shown, re.MULTILINE)


@pytest.mark.parametrize("command", ["detach", "attach", "selftest"])
def test_no_line_of_a_help_ends_within_a_word(run: Run, command: str) -> None:
    """An option is whole, so that it can be copied, and its hyphens are those of the keyboard."""
    shown = run(command, "--help").out
    assert "\u2011" not in shown
    assert not re.search(r"\w-$", shown, re.MULTILINE)


@pytest.mark.parametrize(
    "arguments",
    [("--version",), ("--help",), ("ls", "--help"), *[("tune", "list", "--help")] * is_installed()],
)
def test_what_needs_no_aws_does_not_import_it(arguments: tuple[str, ...]) -> None:
    """Importing botocore takes longer than everything else that a start does."""
    done = python("-X", "importtime", *COMMAND, *arguments)
    assert done.returncode == 0
    imported = {line.rpartition("|")[2].strip() for line in done.stderr.splitlines()}
    assert "click" in imported
    slow = {"boto3", "botocore.session", "rich.console", "matplotlib", "tomlkit", "urllib.request"}
    slow |= {"bucketsum.long_objects.progress_table", "bucketsum_lab.results.analysis"}
    assert not imported & slow


def test_no_command_imports_duckdb_at_its_start() -> None:
    """Its library has 66 MB; the questions load it when they ask, and other commands never."""
    program = (
        "import importlib, pkgutil, sys, bucketsum_cli.commands as all; "
        "names = [m.name for m in pkgutil.walk_packages(all.__path__, all.__name__ + '.')]; "
        "[importlib.import_module(name) for name in names]; "
        "print(len(names) > 30, 'duckdb' in sys.modules, 'boto3' in sys.modules)"
    )
    assert python("-c", program).stdout.split() == ["True", "False", "False"]


@pytest.mark.parametrize(
    ("words", "names"), [("bucketsum st", {"status", "stop"}), ("bucketsum local lo", {"logs"})]
)
def test_commands_are_completed_without_their_imports(words: str, names: set[str]) -> None:
    """Nobody waits half a second for a tabulator."""
    done = python(
        *("-X", "importtime", *COMMAND), _BUCKETSUM_COMPLETE="bash_complete",
        COMP_WORDS=words, COMP_CWORD=str(words.count(" ")),
    )  # fmt: skip
    assert {line.split(",")[1] for line in done.stdout.splitlines()} == names
    assert "bucketsum_cli.arguments.target" not in done.stderr


@pytest.mark.parametrize(
    ("connection", "slow"),
    [
        ("connection_to('us-east-1')", {"boto3", "OpenSSL"}),
        ("local_connection(object())[0]", {"boto3", "OpenSSL", "awscrt"}),
    ],
)
def test_a_client_needs_neither_boto3_nor_what_only_sam_needs(
    connection: str, slow: set[str]
) -> None:
    """They are half of a command's time if they are installed."""
    program = (
        "import sys; from bucketsum_cli.aws.connection import *; "
        "aws = emulator_state.LocalAws(1, 'https://127.0.0.1:1', 'us-east-1', '', 'ca.pem'); "
        f"emulator_state.running = lambda _: aws; {connection}.client('s3'); "
        "print(*(name for name, module in sys.modules.items() if module))"
    )
    modules = set(python("-c", program).stdout.split())
    assert "botocore.httpsession" in modules
    assert not slow & modules


class Answers(BaseHTTPRequestHandler):
    """Answers every request with a page, as a captive portal does."""

    def do_POST(self) -> None:
        """Say that somebody must sign in."""
        self.send_response(200)
        self.end_headers()
        self.wfile.write(self.page)

    page = b"<html><body>sign in</body></html>"

    def log_message(self, *_: object) -> None:
        """Stay silent."""


class Silent(Answers):
    """Answers after a while, as a firewall that swallows packets."""

    def do_POST(self) -> None:
        """Wait until the note has been shown."""
        time.sleep(0.1)
        super().do_POST()


class Garbage(Answers):
    """Answers with no XML at all."""

    page = b"sign in"


@pytest.fixture
def served_by(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[type[Answers]], str]]:
    """Starts a server that the command takes for AWS; returns its address."""
    servers: list[ThreadingHTTPServer] = []

    def serve(answers: type[Answers]) -> str:
        server = ThreadingHTTPServer(("127.0.0.1", 0), answers)
        servers.append(server)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        url = f"http://127.0.0.1:{server.server_port}"
        monkeypatch.setenv("AWS_ENDPOINT_URL", url)
        return url

    yield serve
    for server in servers:
        server.shutdown()
        server.server_close()


@pytest.mark.parametrize("answers", [Answers, Garbage])
def test_an_answer_of_somebody_else_is_no_defect(
    run: Run, served_by: Callable[[type[Answers]], str], answers: type[Answers]
) -> None:
    """A captive portal answers 200 with its own page."""
    url = served_by(answers)
    run("ls").assert_refused(f"Error: what answers at {url} is not AWS")


def test_silence_is_noted(
    run: Run, served_by: Callable[[type[Answers]], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before the command gives up, a person reads what it waits for."""
    monkeypatch.setattr(stack_description, "_SILENCE_SECONDS", 0.01)
    url = served_by(Silent)
    assert run("ls").err.startswith(f"no answer from {url} yet; still trying\n")


def test_silence_ends() -> None:
    """The first request of a command ends after 20 s; others may send and receive bytes."""
    config = connection_to("us-east-1").client("cloudformation").meta.config
    assert config.read_timeout * config.retries["total_max_attempts"] < 20
    assert connection_to("us-east-1").client("s3").meta.config.read_timeout == 60


@pytest.mark.parametrize(
    "arguments",
    [
        ("status", "--watch", "nan"),
        ("put", ".", "--timeout", "inf"),
        ("backfill", "list", "--limit", "9" * 20),
        *[("tune", "list", "--limit", "9" * 20)] * is_installed(),
    ],
)
def test_a_number_that_is_none_is_refused(run: Run, arguments: tuple[str, ...]) -> None:
    """Python's floats and iterators fail later, in the middle."""
    run(*arguments).assert_refused("Invalid value for")


@pytest.mark.parametrize(
    ("words", "completed"),
    [
        ("show ph", ["photos/"]),
        ("show photos/", ["photos/cat.jpg"]),
        ("ls --bucket nosuch ph", []),
        ("backfill show 20", []),
    ],
)
def test_keys_and_runs_are_completed(
    run: Run, stack: Stack, monkeypatch: pytest.MonkeyPatch, words: str, completed: list[str]
) -> None:
    """A missing stack completes nothing, without an error."""
    put_and_record(stack, "photos/cat.jpg", b"cat")
    monkeypatch.setenv("_BUCKETSUM_COMPLETE", "bash_complete")
    monkeypatch.setenv("COMP_WORDS", f"bucketsum {words}")
    monkeypatch.setenv("COMP_CWORD", str(words.count(" ") + 1))
    lines = [line for line in run().out.splitlines() if line]
    assert lines == [f"plain,{name}" for name in completed]


@pytest.mark.parametrize(
    ("module", "text"),
    [("click", "interrupted\n"), ("bucketsum_cli.commands.put", "\ninterrupted\n")],
    ids=["at the start", "for the help"],
)
def test_ctrl_c_during_the_imports_is_130(module: str, text: str) -> None:
    """The half second before the command starts is not a time for a traceback."""
    program = f"""
        import signal, sys
        class Slow:
            def find_spec(self, name, path=None, target=None):
                if name == "{module}":
                    signal.raise_signal(signal.SIGINT)
        sys.meta_path.insert(0, Slow())
        from bucketsum_cli.main import main
        main()
    """
    done = python("-c", textwrap.dedent(program), "put", "--help")
    assert (done.returncode, done.stderr) == (130, text)


def test_fifo_is_no_file_to_look_for(run: Run, tmp_path: Path) -> None:
    """Opening it would wait for ever."""
    os.mkfifo(tmp_path / "fifo")
    run("find", tmp_path / "fifo").assert_refused("not a regular file")


def test_escape_and_what_looks_like_one_differ(run: Run, stack: Stack) -> None:
    """A key with a backslash cannot pose as a key with a control character."""
    put_and_record(stack, "a\x9b", b"a")
    put_and_record(stack, r"a\x9b", b"b")
    put_and_record(stack, r"c:\d", b"c")
    names = [line.split()[0] for line in run("ls").out.splitlines()[1:]]
    assert sorted(names) == sorted([r"a\x9b", r"a\\x9b", r"c:\d"])


def test_long_key_does_not_widen_the_other_lines_of_a_pipe(run: Run, stack: Stack) -> None:
    """Lines of a pipe are complete, and end with their last column."""
    put_and_record(stack, "k" * 1000, b"a")
    put_and_record(stack, "short", b"b")
    heading, long, short = run("ls").out.splitlines()
    assert long.startswith("k" * 1000)
    assert len(short) < 200
    assert heading.index("SHA-1") == short.index(short.split()[3])
    assert output.printable(short) == short


@pytest.mark.parametrize(
    ("words", "meant"),
    [(("chek",), "'check'"), (("backfill", "strt"), "'start'"), (("local", "satus"), "'status'"),
     (("snapshot", "lits"), "'list'")],
)  # fmt: skip
def test_a_misspelled_command_is_named(run: Run, words: tuple[str, ...], meant: str) -> None:
    """`backfill strt` is not a bucket; a bucket of such a name can still be meant."""
    run(*words).assert_refused(f"No such command '{words[-1]}'. Did you mean {meant}?")


def test_the_hint_of_a_group_names_that_group(run: Run) -> None:
    """A bucket may be called like a misspelled command."""
    run("verify", "shw").assert_refused("For a bucket of this name: `bucketsum verify start shw`")
    assert "of this name" not in run("snapshot", "lits").err


@pytest.mark.parametrize(
    ("words", "hint"),
    [(("verify", "b", "--prefx", "a"), "Did you mean --prefix?"),
     (("verify", "b", "--dry"), "Did you mean --dry-run?"),
     (("verify", "b", "--schedule", "90d"), ""), (("put", "a", "--bag"), ""),
     (("snapshot", "--listin"), "Did you mean --listing?")],
)  # fmt: skip
def test_an_unknown_option_has_a_useful_hint_or_none(
    run: Run, words: tuple[str, ...], hint: str
) -> None:
    """`--schedule` is not `--help`, and `--bag` is not `--all`."""
    ended = run(*words)
    ended.assert_refused("No such option: --", hint)
    assert "options follow the command" not in ended.err
    run("--local", *words).assert_refused("options follow the command")
    assert ("Did you mean" in ended.err) is bool(hint)


@pytest.mark.usefixtures("stack")
def test_keys_may_be_blanks(run: Run) -> None:
    """S3 allows them; only names of stacks, Regions, profiles and buckets cannot be blank."""
    assert run("show", " ").status == 1
    assert run("ls", "\n").status == 0


def test_a_variable_names_the_bucket(
    run: Run, stack: Stack, monkeypatch: pytest.MonkeyPatch
) -> None:
    """BUCKETSUM_BUCKET stands for --bucket; a bucket in an argument is stronger."""
    stack.client("s3").create_bucket(Bucket="another")
    monkeypatch.setenv("BUCKETSUM_BUCKET", "another")
    assert run("show", "a", "--json").document["bucket"] == "another"
    assert run("show", f"s3://{stack.bucket}/a", "--json").document["bucket"] == stack.bucket
    assert run("show", "a", "--bucket", stack.bucket, "--json").document["bucket"] == stack.bucket


@pytest.mark.parametrize("group", GROUPS, ids=operator.attrgetter("name"))
def test_a_group_shows_what_its_commands_do_in_whole_sentences(group: click.Group) -> None:
    """Click ends what does not fit in the line of a usual terminal with three dots."""
    context = click.Context(group, terminal_width=78)  # click leaves two of 80 columns
    lines = group.get_help(context).splitlines()
    assert [line for line in lines if line.endswith("...") and "Usage:" not in line] == []
