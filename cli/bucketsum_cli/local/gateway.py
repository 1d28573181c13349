"""The process of the embedded AWS: ministack, told to start our worker instead of its own Python.

ministack starts Lambda workers with `sys.executable`; setting that before the module runs is all
it takes, and none of ministack's private code is touched.
"""

from __future__ import annotations

import runpy
import sys


def main(worker_program: str) -> None:
    """Serve until told to stop by a signal."""
    sys.executable = worker_program
    sys.argv = ["ministack"]
    runpy.run_module("ministack", run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    main(sys.argv[1])
