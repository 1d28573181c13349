"""Values of environment variables.

Functions here raise `BadSettings` for a variable that is missing or wrong; its text names it.
"""

from __future__ import annotations

from collections.abc import Mapping

from bucketsum.errors import BadSettings


def needed(env: Mapping[str, str], *names: str) -> tuple[str, ...]:
    """Values of the variables *names*, for functions that have no other settings."""
    return tuple(present(env, name) for name in names)


def present(env: Mapping[str, str], name: str) -> str:
    """The value of a variable that must not be empty."""
    value = env.get(name, "")
    if not value:
        raise BadSettings(f"{name} is not set")
    return value


def whole(env: Mapping[str, str], name: str, low: int, high: int) -> int:
    """A whole number from *low* to *high*."""
    text = present(env, name)
    if not (text.isascii() and text.isdigit()):
        raise BadSettings(f"{name} is {text!r}, not a whole number in {low}..{high}")
    if not low <= int(text) <= high:
        raise BadSettings(f"{name} is {text}, not in {low}..{high}")
    return int(text)


def choice(env: Mapping[str, str], name: str, allowed: tuple[str, str]) -> str:
    """One of *allowed*, of which the first is the default."""
    text = env.get(name) or allowed[0]
    if text not in allowed:
        raise BadSettings(f"{name} is {text!r}; allowed are {' and '.join(allowed)}")
    return text


def listed(env: Mapping[str, str], name: str) -> list[str]:
    """The texts between commas that are not empty."""
    return [part.strip() for part in env.get(name, "").split(",") if part.strip()]
