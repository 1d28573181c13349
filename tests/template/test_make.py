"""`make help` and `make clean`: a line for each target; no generated file stays."""

import re
import subprocess
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[2]

ANSWERS: Final = "deploy.toml"
"""The only ignored file that a person wrote."""

RESULTS: Final = {".bucketsum/snapshots/s/snapshot.json", ".bucketsum/runs/r.json"}
"""Ignored files that a person asked for, and that took time or money."""


def make(target: str, folder: Path) -> str:
    """Standard output of `make TARGET` in *folder*."""
    ended = subprocess.run(
        ["make", "--no-print-directory", f"--file={ROOT / 'Makefile'}", target],  # noqa: S607 - of PATH
        check=True,
        capture_output=True,
        text=True,
        cwd=folder,
    )
    return ended.stdout


def ignored() -> list[str]:
    """The names in .gitignore, with a text for each asterisk."""
    lines = (ROOT / ".gitignore").read_text(encoding="utf-8").splitlines()
    return [line.replace("*", "x").rstrip("/") for line in lines if line and line[0] != "#"]


def test_clean_deletes_all_generated_files(tmp_path: Path) -> None:
    """Everything that git ignores is deleted, except a person's answers; other files stay."""
    kept = {ANSWERS, "template.yaml", "src/app.py", *RESULTS}
    nested = {"node_modules": "tests/template/asl/node_modules", "__pycache__": "src/__pycache__"}
    generated = {f"{nested.get(name, name)}/file" for name in ignored() if name != ANSWERS}
    assert "dist/file" in generated
    for name in (*kept, *generated):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()

    make("clean", tmp_path)

    files = (path for path in tmp_path.rglob("*") if path.is_file())
    assert {str(path.relative_to(tmp_path)) for path in files} == kept


def test_help_lists_each_target() -> None:
    """Every phony target has a line."""
    phony = re.search(r"^\.PHONY: (.*)$", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE)
    assert phony
    listed = [line.split()[0] for line in make("help", ROOT).splitlines()]
    assert sorted(listed) == sorted(phony[1].split())
