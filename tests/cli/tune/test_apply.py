"""`bucketsum tune apply`: the recommended parameters, written into deploy.toml."""

import re
import tomllib
from pathlib import Path

import pytest
from tests.cli.conftest import Run
from tests.cli.tune.conftest import BEFORE, Record
from tests.cli.tune.sweeps import MIB, a_cell, a_run, failed_samples, good_samples
from tests.support.sam_template import TEMPLATE


@pytest.fixture
def own(samconfig: Path) -> Path:
    """The file of a person's own values, which is not there at first."""
    return samconfig.with_name("deploy.toml")


@pytest.fixture
def recommended(record: Record) -> str:
    """A run that recommends 512 MB and 1 MiB."""
    cell = a_cell(512, MIB)
    return record([cell], good_samples(cell)).run_id


def test_the_change_is_shown_and_nothing_written_without_a_yes(
    run: Run, samconfig: Path, own: Path, recommended: str
) -> None:
    """No answer is a no; exit status 1."""
    ended = run("tune", "apply", recommended).assert_no()
    assert '-parameter_overrides = "MemorySize=128 BatchSize=2"' in ended.err
    assert '+parameter_overrides = "MemorySize=512 BatchSize=2 Streams=1"' in ended.err
    assert samconfig.read_text() == BEFORE
    assert not own.exists()


def test_a_yes_writes_a_copy_of_the_tracked_file(
    run: Run, samconfig: Path, own: Path, recommended: str
) -> None:
    """Only the parameters change, and the next `git pull` has no conflict."""
    ended = run("tune", "apply", recommended, answer="y\n").assert_done()
    assert ended.err.endswith("sam build && sam deploy --config-file deploy.toml\n")
    wanted = BEFORE.replace("MemorySize=128 BatchSize=2", "MemorySize=512 BatchSize=2 Streams=1")
    assert own.read_text() == wanted
    assert samconfig.read_text() == BEFORE


def test_a_deploy_toml_is_changed_as_it_is(
    run: Run, samconfig: Path, own: Path, recommended: str
) -> None:
    """A person's own choices stay, in the file that git ignores."""
    own.write_text(BEFORE.replace("BatchSize=2", "BatchSize=9"))
    ended = run("tune", "apply", recommended, "--yes").assert_done()
    assert 'BatchSize=9 Streams=1"' in own.read_text()
    assert samconfig.read_text() == BEFORE
    assert f"{own} now has these values" in ended.err


def test_git_ignores_deploy_toml() -> None:
    """No answer of a person is committed by accident."""
    ignored = (TEMPLATE.parent / ".gitignore").read_text(encoding="utf-8").splitlines()
    assert "deploy.toml" in ignored


@pytest.mark.usefixtures("samconfig")
def test_what_is_there_already_is_not_asked_for(run: Run, own: Path, recommended: str) -> None:
    """Applying twice writes once; the JSON document has `changed`."""
    first = run("tune", "apply", recommended, "--yes", "--json")
    second = run("tune", "apply", recommended, "--json")
    assert (first.document["changed"], second.document["changed"]) == (True, False)
    assert first.document["parameters"] == {"MemorySize": 512, "Streams": 1}
    assert tomllib.loads(own.read_text())["version"] == 0.1


@pytest.mark.usefixtures("samconfig")
def test_a_run_that_recommends_nothing_changes_nothing(
    run: Run, samconfig: Path, record: Record
) -> None:
    """The error has the reason."""
    cell = a_cell(512, MIB)
    record([cell], failed_samples(cell, "it timed out"))
    run("tune", "apply", "last", "--yes").assert_refused(
        "has no recommendation: no setting was measured"
    )
    assert samconfig.read_text() == BEFORE


@pytest.mark.usefixtures("samconfig")
@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"label": "local"}, "was measured in the local emulator"),
        ({"status": "STOPPED"}, "is STOPPED"),
        ({"status": "FAILED"}, "is FAILED"),
    ],
)
def test_local_and_stopped_runs_are_applied_only_by_force(
    run: Run, record: Record, own: Path, changes: dict[str, str], reason: str
) -> None:
    """A recommendation may be wrong on AWS, or of the settings measured before the end."""
    cell = a_cell(512, MIB)
    record([cell], good_samples(cell), a_run(**changes))
    refused = run("tune", "apply", "last", "--yes")
    refused.assert_refused(reason)
    assert "--force" in refused.err
    assert not own.exists()
    forced = run("tune", "apply", "last", "--yes", "--force")
    assert (forced.status, own.exists()) == (0, True)
    assert reason in forced.err


@pytest.mark.usefixtures("samconfig")
def test_a_run_without_all_samples_comes_with_a_warning(run: Run, record: Record) -> None:
    """A setting that failed has no measurement, and the others can be applied."""
    cell = a_cell(512, MIB)
    record([cell], good_samples(cell), a_run(status="PARTIAL"))
    ended = run("tune", "apply", "last", "--yes")
    assert (ended.status, "is PARTIAL" in ended.err) == (0, True)


@pytest.mark.usefixtures("samconfig")
def test_what_is_deployed_is_not_deployed_again(run: Run, record: Record) -> None:
    """The values are written, as another parameter may be changed later."""
    cell = a_cell(512, MIB)
    record([cell], good_samples(cell), a_run(deployed=cell.setting.values))
    err = run("tune", "apply", "last", "--yes").err
    assert "deploy.toml now has these values" in err
    assert "sam deploy" not in err


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


def test_without_a_file_the_error_names_it(run: Run, samconfig: Path, recommended: str) -> None:
    """The command does not make one of nothing: its other contents are not known."""
    samconfig.unlink()
    run("tune", "apply", recommended, "--yes").assert_refused("samconfig.toml", "--config-file")


def test_another_file_is_named_in_every_message(
    run: Run, samconfig: Path, recommended: str, tmp_path: Path
) -> None:
    """The command to deploy names the changed file; so does an error about the file."""
    file = tmp_path / "my config.toml"
    file.write_text(BEFORE)
    ended = run("tune", "apply", recommended, "--yes", "--config-file", file)
    assert f"{file} now has these values" in ended.err
    assert f"sam deploy --config-file '{file}'" in ended.err
    assert samconfig.read_text() == BEFORE
    file.write_text("version = ")
    run("tune", "apply", recommended, "--yes", "--config-file", file).assert_refused(
        "my config.toml is not TOML"
    )
