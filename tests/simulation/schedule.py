"""Schedule: a clock, events and tasks, all decided by one seed.

Tasks run the product's code as it is, each in a greenlet: a stack of its own in the same thread. A
task gives its turn away only in `Schedule.pause`, which every model calls before the effect of
every AWS call, and in `Schedule.wait`; the next turn belongs to the earliest event.
"""

import math
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from heapq import heappop, heappush
from itertools import count
from random import Random
from typing import Final

from greenlet import getcurrent, greenlet
from tests.simulation.trace import Trace

EVENTS_MAX: Final = 20_000
"""A schedule with more events would never come to rest."""


class Killed(BaseException):
    """The task's process is gone; nothing that it still does has an effect."""


_IDLE: Final[defaultdict[greenlet, list[greenlet]]] = defaultdict(list)
"""Greenlets whose tasks are over, by their parent: a new one takes longer than most tasks."""


@dataclass(slots=True, eq=False)
class Process:
    """A process that AWS or a person may stop between any two calls, with all its tasks.

    Attributes:
        name: Actor in the trace.
        ends_at: When it is killed at the latest.
        kill_probability: Of being killed, at each call.
        killed: Whether it was.
    """

    name: str
    ends_at: float = math.inf
    kill_probability: float = 0
    killed: bool = False


@dataclass(slots=True, eq=False)
class Task:
    """A thread of a process.

    Attributes:
        process: The process.
        stack: Runs when it is this task's turn.
        work: What it does, at its first turn.
        waits: Whether its next turn comes only after another task's `Schedule.wake`.
    """

    process: Process
    stack: greenlet
    work: Callable[[], None]
    waits: bool = False


class Schedule:
    """One interleaving; the same seed gives the same one."""

    def __init__(self, seed: int, trace: Trace) -> None:
        self.random = Random(seed)  # noqa: S311 - nothing secret
        self.now = 0.0
        self.spread = 1.0
        """Decimal orders of magnitude from the shortest latency to the longest."""
        self.violations: list[str] = []
        self._trace = trace
        self._events: list[tuple[float, int, Task | Callable[[], None]]] = []
        self._numbers = count()
        self._task: Task | None = None
        self._main = getcurrent()

    def log(self, step: str, *values: object) -> None:
        """Add *step*, a format of *values*, to the trace."""
        if self._trace.enabled:
            self._trace.add(self.now, self._task.process.name if self._task else "-", step, values)

    def violate(self, text: str) -> None:
        """Report a broken promise; the schedule goes on."""
        self.violations.append(text)
        self.log("VIOLATION %s", text)

    def happens(self, probability: float) -> bool:
        """Whether something of this *probability* happens now."""
        return probability > 0 and self.random.random() < probability

    def number(self, least: int, most: int) -> int:
        """A number from *least* to *most*: `Random.randint`, in a third of its time."""
        width = most - least + 1
        bits = width.bit_length()
        while (number := self.random.getrandbits(bits)) >= width:
            pass
        return least + number

    def latency(self) -> float:
        """A latency in seconds: 5 ms, and up to `spread` orders of magnitude more."""
        return 0.005 * math.pow(10, self.spread * self.random.random())

    def after(self, seconds: float, action: Callable[[], None]) -> None:
        """Let *action*, which must not pause, happen *seconds* from now."""
        heappush(self._events, (self.now + seconds, next(self._numbers), action))

    @property
    def task(self) -> Task:
        """The task that has the turn."""
        assert self._task is not None
        return self._task

    def start(self, process: Process, work: Callable[[], None]) -> None:
        """Begin a task of *process* now."""
        idle = _IDLE[self._main]
        stack = idle.pop() if idle else greenlet(_work_one_by_one, self._main)
        task = Task(process, stack, partial(self._work, process, work))
        heappush(self._events, (self.now, next(self._numbers), task))

    def pause(self, seconds: float | None = None) -> None:
        """Let others have their turns for *seconds*, or for a `latency`.

        Raises:
            Killed: The task ends here.
        """
        task, events, number = self.task, self._events, next(self._numbers)
        process, ends_at = task.process, task.process.ends_at
        if process.killed:
            raise Killed
        wakes_at = self.now + (self.latency() if seconds is None else seconds)
        wakes_at = min(wakes_at, ends_at)
        if number < EVENTS_MAX and not (events and events[0][0] <= wakes_at):
            self.now = wakes_at  # its own next turn is the earliest event
        else:
            heappush(events, (wakes_at, number, task))
            self._main.switch()
            if process.killed:
                raise Killed
        if self.now >= ends_at or self.happens(process.kill_probability):
            process.killed = True
            self.log("is killed")
            raise Killed

    def wait(self) -> None:
        """Let others have their turns until a task calls `wake`.

        Raises:
            Killed: The process has ended meanwhile.
        """
        self.task.waits = True
        self._main.switch()
        if self.task.process.killed:
            raise Killed

    def wake(self, task: Task) -> None:
        """End the `wait` of *task*, if it waits."""
        if task.waits:
            task.waits = False
            heappush(self._events, (self.now, next(self._numbers), task))

    def run(self) -> None:
        """Run until nothing is left to happen."""
        events = self._events
        while events:
            self.now, number, action = heappop(events)
            if number == EVENTS_MAX:
                self.violate(f"it is not at rest after {EVENTS_MAX} events")
            if isinstance(action, Task):
                self._task = action
                action.process.killed |= number >= EVENTS_MAX
                action.stack.switch(action.work)
                self._task = None
            elif number < EVENTS_MAX:
                action()

    def _work(self, process: Process, work: Callable[[], None]) -> None:
        try:
            work()
        except Killed:
            pass
        except Exception as error:  # noqa: BLE001 - the product must not, so it is a violation
            self.violate(f"{process.name} raised {error!r}")


def _work_one_by_one(work: Callable[[], None]) -> None:
    """Work for a task; then wait for the next."""
    stack = getcurrent()
    assert stack.parent
    while True:
        work()
        del work  # with its schedule
        _IDLE[stack.parent].append(stack)
        work = stack.parent.switch()
