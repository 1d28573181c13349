"""Coverage-guided fuzzing of the archive reader; needs atheris, which is not in the environment.

python -m tests.support.archive_seeds corpus
python tests/fuzz/fuzz_archive.py corpus -max_len=4096 -max_total_time=600
"""

from __future__ import annotations

import sys
from pathlib import Path

import atheris

ROOT = Path(__file__).parents[2]
sys.path[:0] = [str(ROOT / "layers" / "bucketsum"), str(ROOT)]

with atheris.instrument_imports(include=["bucketsum"]):
    from tests.support.archive_rules import check

if __name__ == "__main__":
    atheris.Setup(sys.argv, check)
    atheris.Fuzz()
