"""Lines of the product that an input runs, so that inputs which reach new code are kept."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import CodeType, FrameType
from typing import Any, Final

_PRODUCT: Final = str(Path(__file__).parents[2] / "layers" / "bucketsum" / "bucketsum")


class Coverage:
    """Pairs of lines of the product that ran after each other.

    Attributes:
        grew: Whether the last block ran a new pair.
    """

    def __init__(self) -> None:
        self.grew = False
        self._pairs: set[tuple[CodeType, int, int]] = set()

    @contextmanager
    def recorded(self) -> Iterator[None]:
        """Record the pairs that the block runs."""
        self.grew = False
        outer = sys.gettrace()  # of pytest-cov, which would measure nothing more without it
        sys.settrace(self._called)
        try:
            yield
        finally:
            sys.settrace(outer)

    def _called(self, frame: FrameType, _event: str, _argument: object) -> Any:  # noqa: ANN401 - as of sys
        if not frame.f_code.co_filename.startswith(_PRODUCT):
            return None
        last = 0

        def step(frame: FrameType, _event: str, _argument: object) -> Any:  # noqa: ANN401 - as of sys
            nonlocal last
            pair = (frame.f_code, last, frame.f_lineno)
            if pair not in self._pairs:
                self._pairs.add(pair)
                self.grew = True
            last = frame.f_lineno
            return step

        return step
