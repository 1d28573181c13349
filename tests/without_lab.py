"""The product in a copy without the lab, checked and tested there: ``make product``."""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import venv
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[1]
PATHS: Final = ROOT / "layers" / "lab" / "paths.txt"

_CONDITION: Final = "HasSweeps"
_BLOCK: Final = re.compile(r"^  \w+:.*\n(?:(?:    .*)?\n)*", re.MULTILINE)
_OF_PROJECT: Final = re.compile(r'(, )?"layers/lab[^"]*"')


def copy_product(target: Path) -> None:
    """Copy the files that git knows, and new ones; without the lab and its resources."""
    patterns = [line for line in PATHS.read_text().splitlines() if not line.startswith("#")]
    lab = [path for pattern in patterns for path in ROOT.glob(pattern)]
    listing = ("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard")
    names = subprocess.run(listing, cwd=ROOT, check=True, capture_output=True, text=True).stdout
    for name in filter(None, names.split("\0")):
        source, path = ROOT / name, target / name
        if source.is_file() and not any(source.is_relative_to(path) for path in lab):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(source.read_bytes())
            path.chmod(source.stat().st_mode)
    template, project = target / "template.yaml", target / "pyproject.toml"
    template.write_text(without_sweeps(template.read_text()))
    project.write_text(_OF_PROJECT.sub("", project.read_text()))
    for command in ("init -q", "add ."):
        subprocess.run(f"git {command}".split(), cwd=target, check=True)


def without_sweeps(template: str) -> str:
    """Remove the parameter, the condition, and all that has the condition."""
    template = _BLOCK.sub(lambda block: "" if _CONDITION in block[0] else block[0], template)
    template = re.sub(r"^  Sweeps:\n(    .*\n)*", "", template, flags=re.MULTILINE)
    template = re.sub(r"^      Sweeps:.*\n", "", template, flags=re.MULTILINE)
    return template.replace(" Sweeps,", "")


def share_packages(target: Path) -> None:
    """Give the copy an environment with this one's packages, but not with this project's."""
    venv.create(target / ".venv", symlinks=True)
    ours = Path(sys.prefix)
    [packages] = ours.glob("lib/python*/site-packages")
    own = target / ".venv" / packages.relative_to(ours)
    for entry in packages.iterdir():
        if "bucketsum" not in entry.name and not (own / entry.name).exists():
            (own / entry.name).symlink_to(entry)
    folders = (target / "layers" / "bucketsum", target / "cli")
    (own / "product.pth").write_text("".join(f"{folder}\n" for folder in folders))
    for program in (ours / "bin").iterdir():
        path = target / ".venv" / "bin" / program.name
        if program.is_file() and not path.exists():
            path.write_bytes(program.read_bytes().replace(bytes(ours), bytes(target / ".venv")))
            path.chmod(0o755)
    (target / ".venv" / ".ready").touch()
    if (types := ROOT / ".mypy_cache").is_dir():  # of the same files, so most need no second look
        shutil.copytree(types, target / types.name)


def main() -> None:
    """Copy, then run the targets of make."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("targets", nargs="+", help="of make: check 'test ARGS=tests/unit'")
    targets = parser.parse_args().targets
    with tempfile.TemporaryDirectory(prefix="bucketsum-product-") as folder:
        target = Path(folder).resolve()
        copy_product(target)
        share_packages(target)
        kept = {name: text for name, text in os.environ.items() if not name.startswith("MAKE")}
        for arguments in targets:
            command = ("make", "-C", target, *arguments.split(" ", 1))
            subprocess.run(command, env=kept, check=True)


if __name__ == "__main__":
    main()
