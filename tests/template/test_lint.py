"""cfn-lint has nothing to say about the template; `make check` asks SAM as well."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Final

from tests.support.sam_template import TEMPLATE

BIN: Final = Path(sys.executable).parent
REGIONS: Final = ("us-east-1", "cn-north-1")
REGISTRY: Final = re.compile(
    rb"https?://[\w.:-]*(pypi|pythonhosted|npmjs|registry|artifactory|nexus|goproxy)[\w.-]*"
    rb"|--(extra-)?index-url|\"resolved\": "
)
"""The host of a package registry, or an option or a field that names it."""


def ran(*command: str | Path) -> subprocess.CompletedProcess[str]:
    """Run one of our tools in the project's root."""
    program, *arguments = command
    return subprocess.run(
        [BIN / program, *arguments],
        check=False,
        capture_output=True,
        text=True,
        cwd=TEMPLATE.parent,
        env=os.environ | {"SAM_CLI_TELEMETRY": "0"},
    )


def test_cfn_lint_is_silent() -> None:
    """No error and no warning, by the rules of every Region that is listed."""
    done = ran("cfn-lint", "--regions", *REGIONS, "--", TEMPLATE)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_lint_would_find_a_mistake(tmp_path: Path) -> None:
    """The silence means something: a value beyond a limit of AWS is reported."""
    broken = tmp_path / "template.yaml"
    text = TEMPLATE.read_text(encoding="utf-8")
    broken.write_text(text.replace("VisibilityTimeout: 5400", "VisibilityTimeout: 43201"))
    done = ran("cfn-lint", "--", broken)
    assert done.returncode != 0
    assert "43201" in done.stdout


def test_no_file_names_a_package_registry() -> None:
    """Everybody installs from the registry that they have configured, not from ours."""
    listed = subprocess.run(
        ["git", "ls-files", "-z"],  # noqa: S607 - wherever git is
        cwd=TEMPLATE.parent,
        check=True,
        capture_output=True,
        text=True,
    )
    files = [TEMPLATE.parent / name for name in listed.stdout.split("\0") if name]
    naming = [
        str(path)
        for path in files
        if path.is_file() and path != Path(__file__) and REGISTRY.search(path.read_bytes())
    ]
    assert naming == []
