"""`bucketsum tune apply`: the recommended parameters, written into samconfig.toml."""

from __future__ import annotations

import re
import tomllib
from typing import TYPE_CHECKING

import pytest
from tests.cli.tune.conftest import BEFORE
from tests.cli.tune.sweeps import MIB, a_cell, a_run, failed_samples, good_samples
from tests.support.sam_template import TEMPLATE

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.conftest import Run
    from tests.cli.tune.test_reading import Record


@pytest.fixture
def recommended(record: Record) -> str:
    """A run that recommends 512 MB and 1 MiB."""
    cell = a_cell(512, MIB)
    return record([cell], good_samples(cell), None).run_id


def test_the_change_is_shown_and_nothing_written_without_a_yes(
    run: Run, samconfig: Path, recommended: str
) -> None:
    """No answer is a no; exit status 1."""
    ended = run("tune", "apply", recommended)
    assert ended.status == 1
    assert '-parameter_overrides = "MemorySize=128 BatchSize=2"' in ended.err
    assert '+parameter_overrides = "MemorySize=512 BatchSize=2 Streams=1"' in ended.err
    assert samconfig.read_text() == BEFORE


def test_a_yes_writes_it_and_says_how_to_deploy(
    run: Run, samconfig: Path, recommended: str
) -> None:
    """Only the parameters change."""
    ended = run("tune", "apply", recommended, answer="y\n")
    assert ended.status == 0
    assert ended.err.endswith("sam build && sam deploy --config-env default\n")
    wanted = BEFORE.replace("MemorySize=128 BatchSize=2", "MemorySize=512 BatchSize=2")
    assert samconfig.read_text() == wanted.replace('BatchSize=2"', 'BatchSize=2 Streams=1"')


def test_a_deploy_toml_is_changed_instead_of_the_tracked_file(
    run: Run, samconfig: Path, recommended: str
) -> None:
    """A person's own choices stay out of the file that `git pull` updates."""
    own = samconfig.with_name("deploy.toml")
    own.write_text(BEFORE.replace("BatchSize=2", "BatchSize=9"))
    ended = run("tune", "apply", recommended, "--yes")
    assert ended.status == 0
    assert 'BatchSize=9 Streams=1"' in own.read_text()
    assert samconfig.read_text() == BEFORE
    assert f"{own} now has these values" in ended.err
    assert "sam build && sam deploy --config-env default --config-file deploy.toml\n" in ended.err


def test_git_ignores_deploy_toml() -> None:
    """No answer of a person is committed by accident."""
    ignored = (TEMPLATE.parent / ".gitignore").read_text(encoding="utf-8").splitlines()
    assert "deploy.toml" in ignored


def test_what_is_there_already_is_not_asked_for(
    run: Run, samconfig: Path, recommended: str
) -> None:
    """Applying twice writes once; the JSON document has `changed`."""
    first = run("tune", "apply", recommended, "--yes", "--json")
    second = run("tune", "apply", recommended, "--json")
    assert (first.document["changed"], second.document["changed"]) == (True, False)
    assert first.document["parameters"] == {"MemorySize": 512, "Streams": 1}
    assert tomllib.loads(samconfig.read_text())["version"] == 0.1


@pytest.mark.usefixtures("samconfig")
def test_a_run_that_recommends_nothing_changes_nothing(
    run: Run, samconfig: Path, record: Record
) -> None:
    """The error has the reason."""
    cell = a_cell(512, MIB)
    record([cell], failed_samples(cell, "it timed out"), None)
    run("tune", "apply", "last", "--yes").assert_refused(
        "has no recommendation: no setting was measured"
    )
    assert samconfig.read_text() == BEFORE


@pytest.mark.usefixtures("samconfig")
def test_local_and_stopped_runs_come_with_a_warning(run: Run, record: Record) -> None:
    """A recommendation may be wrong on AWS, or of the settings measured before the end."""
    cell = a_cell(512, MIB)
    record([cell], good_samples(cell), a_run(label="local", status="STOPPED"))
    err = run("tune", "apply", "last", "-y").err
    assert "measure on AWS before you deploy there" in err
    assert "is STOPPED: it may lack measurements" in err


@pytest.mark.usefixtures("samconfig")
def test_a_gain_or_a_loss_is_said_before_the_question(run: Run, record: Record) -> None:
    """A faster setting may be more expensive than the deployed one; nobody is surprised."""
    cells = [a_cell(256, MIB, streams="auto"), a_cell(512, MIB)]
    samples = [sample for cell in cells for sample in good_samples(cell, 6)]
    record(
        cells, samples, a_run(deployed={"memory_mb": 256, "chunk_bytes": MIB, "streams": "auto"})
    )
    before, _, after = run("tune", "apply", "last").err.partition("Write it?")
    loss = r"faster but \d+ % more expensive than the deployed setting, 256 MB / auto streams"
    assert re.search(rf"^512 MB / 1 stream: \d+ % {loss}$", before, re.MULTILINE)
    assert "nothing was written" in after


def test_without_the_file_the_error_names_the_command_that_creates_it(
    run: Run, samconfig: Path, recommended: str
) -> None:
    """The command does not create the file: its other contents are not known."""
    samconfig.unlink()
    run("tune", "apply", recommended, "--yes").assert_refused("sam deploy --guided")


def test_another_file_is_named_in_every_message(
    run: Run, samconfig: Path, recommended: str, tmp_path: Path
) -> None:
    """The command to deploy names the changed file; so does an error about the file."""
    file = tmp_path / "my config.toml"
    file.write_text(BEFORE)
    ended = run("tune", "apply", recommended, "--yes", "--config-file", file)
    assert f"{file} now has these values" in ended.err
    assert f"sam deploy --config-env default --config-file '{file}'" in ended.err
    assert samconfig.read_text() == BEFORE
    file.write_text("version = ")
    run("tune", "apply", recommended, "--yes", "--config-file", file).assert_refused(
        "my config.toml is not TOML"
    )
