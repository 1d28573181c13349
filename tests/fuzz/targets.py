"""All parsers that are fuzzed: each folder of the corpus names its module."""

from importlib import import_module
from typing import Final

from tests.fuzz.session import CORPUS, FuzzTarget

TARGETS: Final[list[FuzzTarget]] = [
    import_module(f"tests.fuzz.{folder.name.replace('-', '_')}").TARGET
    for folder in sorted(CORPUS.iterdir())
]
