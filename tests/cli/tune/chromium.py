"""A headless Chromium, spoken to by the DevTools protocol over a pipe: no port, no driver."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, BinaryIO, Final

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_NAMES: Final = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")

# Chromium reads commands from descriptor 3 and writes answers to 4. Python hands descriptors on
# under their own numbers: this moves them, by way of numbers that neither of them can have.
_START: Final = """\
import fcntl, os, sys
commands, answers = (fcntl.fcntl(int(one), fcntl.F_DUPFD, 10) for one in sys.argv[1:3])
os.dup2(commands, 3)
os.dup2(answers, 4)
os.execv(sys.argv[3], sys.argv[3:])
"""


def find_chromium() -> str | None:
    """Where a Chromium is, if there is one."""
    return next(filter(None, map(shutil.which, _NAMES)), None)


@dataclass(slots=True)
class Page:
    """An open page.

    Attributes:
        errors: What its console showed of level error, and every exception nobody caught.
    """

    _commands: BinaryIO
    _answers: BinaryIO
    _session: str = ""
    _sent: int = 0
    _loaded: set[str] = field(default_factory=set)
    errors: list[str] = field(default_factory=list)

    def call(self, method: str, **params: Any) -> dict[str, Any]:  # noqa: ANN401 - as DevTools has it
        """Send one command and wait for its answer."""
        self._sent += 1
        message: dict[str, Any] = {"id": self._sent, "method": method, "params": params}
        if self._session:
            message["sessionId"] = self._session
        self._commands.write(json.dumps(message).encode() + b"\0")
        self._commands.flush()
        while True:
            answer = self._next()
            if answer.get("id") == self._sent:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                result: dict[str, Any] = answer["result"]
                return result

    def _next(self) -> dict[str, Any]:
        text = bytearray()
        while (byte := self._answers.read(1)) != b"\0":
            if not byte:
                raise RuntimeError("Chromium has ended")
            text += byte
        answer: dict[str, Any] = json.loads(text)
        method, params = answer.get("method"), answer.get("params", {})
        if method == "Page.lifecycleEvent" and params["name"] == "load":
            self._loaded.add(params["loaderId"])
        if method == "Runtime.exceptionThrown":
            self.errors.append(params["exceptionDetails"]["text"])
        if method == "Log.entryAdded" and params["entry"]["level"] == "error":
            self.errors.append(params["entry"]["text"])
        return answer

    def open(self, url: str, width: int, height: int) -> None:
        """Show *url* in a window of *width* × *height*, below 600 as a phone does."""
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)[
            "sessionId"
        ]
        for domain in ("Page", "Runtime", "Log"):
            self.call(f"{domain}.enable")
        self.call("Page.setLifecycleEventsEnabled", enabled=True)
        self.call(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=width < 600,
        )
        loader = self.call("Page.navigate", url=url)["loaderId"]
        while loader not in self._loaded:  # the blank page's load may come late, too
            self._next()

    def evaluate(self, expression: str) -> Any:  # noqa: ANN401 - whatever JSON can hold
        """The value of a JavaScript *expression*, as JSON would have it."""
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(answer["exceptionDetails"])
        return answer["result"].get("value")


@contextmanager
def opened(chromium: str, url: str, folder: Path, width: int, height: int) -> Iterator[Page]:
    """*url* in a Chromium of its own, which keeps its profile in *folder* and ends with it."""
    command_end, commands = os.pipe()
    answers, answer_end = os.pipe()
    process = subprocess.Popen(
        [
            *(sys.executable, "-c", _START, str(command_end), str(answer_end), chromium),
            *("--headless", "--remote-debugging-pipe", f"--user-data-dir={folder / 'profile'}"),
            *("--no-first-run", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars"),
            *("--no-sandbox",) * (os.geteuid() == 0),  # Chromium has none for root
        ],
        pass_fds=(command_end, answer_end),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    os.close(command_end)
    os.close(answer_end)
    with os.fdopen(commands, "wb") as writes, os.fdopen(answers, "rb") as reads:
        page = Page(writes, reads)
        try:
            page.open(url, width, height)
            yield page
        finally:
            process.terminate()
            process.wait()
