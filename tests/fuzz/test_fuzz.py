"""Every kept input, and a bounded number of changed ones, keep the rules of their parser."""

import signal
from collections.abc import Iterator
from itertools import islice

import pytest
from click.testing import CliRunner
from tests.fuzz.__main__ import main
from tests.fuzz.session import FuzzTarget, cases, finding_of, findings
from tests.fuzz.targets import TARGETS


@pytest.mark.parametrize("target", TARGETS, ids=lambda target: target.name)
def test_rules_hold(target: FuzzTarget) -> None:
    """The corpus, with every earlier finding, and a bounded number of changed inputs."""
    inputs = target.inputs()
    checked = islice(cases(inputs, seed=0), len(inputs) + target.quick_cases)
    assert inputs
    assert [finding for data in checked if (finding := finding_of(target, data))] == []


def test_a_parser_with_a_bug_is_found() -> None:
    """An error that only a changed input causes is a finding, with its input."""

    def fails_without_brackets(data: bytes) -> None:
        if b"{" not in data:
            raise IndexError

    target = FuzzTarget("none", fails_without_brackets)
    finding = next(result for result in findings(target, [b'{"a": {"b": 1}}'], seed=1) if result)
    assert isinstance(finding.error, IndexError)
    assert b"{" not in finding.data


def test_a_seed_repeats_its_cases() -> None:
    """Inputs are changed at random, but in the same way for one seed."""
    first, second = (list(islice(cases([b"[1, 2]"], seed=7), 50)) for _ in range(2))
    assert first == second


def test_every_target_has_a_command() -> None:
    """The subcommands are the targets."""
    assert set(main.commands) == {target.name for target in TARGETS}
    assert CliRunner().invoke(main, ["notifications", "--help"]).exit_code == 0


def test_an_interrupted_run_reports_its_cases(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C after hours does not lose the number of cases that broke no rule."""

    def interrupted(*_: object) -> Iterator[None]:
        yield None
        signal.raise_signal(signal.SIGINT)
        yield from (None, None)

    monkeypatch.setattr("tests.fuzz.__main__.findings", interrupted)
    monkeypatch.setattr("resource.setrlimit", lambda *_: None)  # this process has more
    result = CliRunner().invoke(main, ["notifications"])
    assert result.exit_code == 130
    assert "notifications: 2 cases from seed 0: no rule broken" in result.output
