"""The reference of metrics and log lines follows the code."""

from pathlib import Path

import pytest
from tests.template.roles import LIBRARY
from tools.reference import monitoring

from bucketsum.hashing import metric


@pytest.fixture
def source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The one file of code that the reference reads."""
    path = tmp_path / "layers/bucketsum/bucketsum/functions/hasher.py"
    path.parent.mkdir(parents=True)
    monkeypatch.setattr(monitoring, "_ROOT", tmp_path)
    return path


def test_metrics_come_from_their_registry() -> None:
    """No other module emits any, so each that is emitted has its row; and each is emitted."""
    texts = {path.name: path.read_text() for path in LIBRARY}
    assert [name for name, text in texts.items() if "add_metric" in text] == ["metric.py"]
    constants = {name for name, value in vars(metric).items() if isinstance(value, metric.Metric)}
    used = {name for name in constants if any(f"metric.{name}." in text for text in texts.values())}
    assert constants - used == {"COLD_START"}


def test_a_line_has_the_level_and_the_fields_of_its_calls(
    source: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The fields of a line are the arguments of all calls that write it, also of dictionaries."""
    source.write_text(
        'fields = {"count": 1}\n'
        'logger.error("known", exc_info=error, key="a", **fields)\n'
        '(self.logger.warning if bad else self.logger.info)("known", size=1)\n'
    )
    monkeypatch.setattr(monitoring, "_LINES", {"known": "something happened"})
    [*_, row] = monitoring.log_lines().splitlines()
    assert row == (
        "| `known` | ERROR, WARNING, INFO | something happened | "
        "`exception`, `key`, `count`, `size` |"
    )


def test_a_line_without_a_meaning_is_refused(source: Path) -> None:
    """A new log line needs a sentence that says when it is written."""
    source.write_text('logger.info("a new line")\n')
    with pytest.raises(ValueError, match="a new line"):
        monitoring.log_lines()
