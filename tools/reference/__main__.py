"""Write the generated pages and tables of docs/: ``python -m tools.reference``."""

import argparse

from bench.tables.document import write

from tools.reference.pages import pages

if __name__ == "__main__":
    argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0]).parse_args()
    for path, text in pages().items():
        write(path, text)
