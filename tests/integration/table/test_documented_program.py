"""The program in docs/how-to/from-a-program.md reads rows of the digests table."""

import runpy
import sys
from pathlib import Path

import pytest
from mypy_boto3_dynamodb import DynamoDBClient
from tests.integration.table.rows import BUCKET, fresh_key, row, unreadable
from tests.support.documents import ROOT, Document

from bucketsum.table.digests_table import DigestsTable


@pytest.fixture
def program(tmp_path: Path) -> Path:
    """The document's only Python program, as a file."""
    page = Document.read(ROOT / "docs" / "how-to" / "from-a-program.md")
    [text] = [token.content for token in page.tokens if token.info == "python"]
    (tmp_path / "program.py").write_text(text)
    return tmp_path / "program.py"


def test_it_prints_the_digest_of_a_version(
    program: Path,
    dynamodb: DynamoDBClient,
    table_name: str,
    digests_table: DigestsTable,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """It prints the SHA-1 of a hashed version; an unreadable or absent one has no digest."""
    hashed = row(fresh_key(), "0A", entry="3sL4kqtJlcpXroDTDmJ")
    refused, absent = unreadable(fresh_key(), "0A"), row(fresh_key(), "0A")
    digests_table.record(hashed)
    digests_table.record(refused)
    monkeypatch.setenv("AWS_ENDPOINT_URL_DYNAMODB", dynamodb.meta.endpoint_url)
    for wanted in (hashed, refused, absent):
        arguments = [table_name, BUCKET, wanted.key, wanted.entry]
        monkeypatch.setattr(sys, "argv", [str(program), *arguments])
        runpy.run_path(str(program))
    assert capsys.readouterr().out.splitlines() == [hashed.sha1, "no digest", "no digest"]
