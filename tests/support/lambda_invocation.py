"""A function's module, and Lambda's context object, as the handlers use it."""

import importlib.util
from dataclasses import dataclass
from types import ModuleType
from typing import Final

_LONG_MS: Final = 900_000


@dataclass(frozen=True, slots=True)
class Context:
    """The invocation, as Lambda describes it to a function."""

    remaining_ms: int = _LONG_MS
    function_name: str = "hasher"
    memory_limit_in_mb: int = 512
    invoked_function_arn: str = "arn:aws:lambda:us-east-1:123456789012:function:hasher"
    aws_request_id: str = "00000000-0000-0000-0000-000000000000"

    def get_remaining_time_in_millis(self) -> int:
        """Milliseconds until the function's timeout."""
        return self.remaining_ms


def loaded(function: str) -> ModuleType:
    """The module of *function*, as in a new execution environment."""
    spec = importlib.util.find_spec(f"bucketsum.functions.{function}")
    assert spec is not None
    assert spec.loader is not None
    app = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(app)
    return app
