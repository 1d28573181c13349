"""Other people's code without coverage's tracer, which doubles its time and measures none of it.

The tracer is started and stopped by its own methods: `sys.settrace` would miss the end of the frame
that calls it, and the lines that come after would be counted for another file.
"""

import sys
from collections.abc import Callable
from functools import wraps
from typing import Any, ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")


def uncovered(function: Callable[P, R]) -> Callable[P, R]:
    """*function*, during which coverage traces nothing in this thread."""

    @wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> R:
        tracer: Any = sys.gettrace()
        if type(tracer).__name__ != "CTracer":  # no coverage, or one that does not slow others
            return function(*args, **kwargs)
        tracer.stop()
        sys.settrace(None)
        try:
            return function(*args, **kwargs)
        finally:
            tracer.start()

    return call
