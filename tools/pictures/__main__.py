"""Write every picture of README and docs: ``python -m tools.pictures``."""

import argparse

from bench.tables.document import write

from tools.pictures.pictures import pictures

if __name__ == "__main__":
    argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0]).parse_args()
    for path, text in pictures().items():
        write(path, text)
