"""Write every picture of README and docs: ``python -m bench.pictures``."""

from __future__ import annotations

import argparse

from bench.pictures.pictures import pictures
from bench.tables.document import write

if __name__ == "__main__":
    argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0]).parse_args()
    for path, text in pictures().items():
        write(path, text)
