"""Trace: the steps of one schedule, in order, as a person reads them."""

from dataclasses import dataclass, field


@dataclass(slots=True)
class Trace:
    """Lines of text, written only while *enabled*.

    Attributes:
        enabled: Off while thousands of schedules run: formatting would cost more than running.
        lines: Time in seconds, actor and step.
    """

    enabled: bool = False
    lines: list[str] = field(default_factory=list)

    def add(self, now: float, actor: str, step: str, values: tuple[object, ...]) -> None:
        """Append a line; *step* is a ``%`` format of *values*."""
        self.lines.append(f"{now:12.3f}  {actor:<9} {step % values}")
