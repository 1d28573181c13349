"""Rules of the archive reader."""

from typing import Final

from tests.fuzz.session import FuzzTarget
from tests.support.archive_rules import check
from tests.support.archive_seeds import seeds

TARGET: Final = FuzzTarget("archives", check, tuple(seeds()), quick_cases=1500)
