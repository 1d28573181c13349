"""Random faults of AWS's responses, with a count of each kind."""

import threading
from collections import Counter
from enum import StrEnum
from random import Random
from typing import Final

from tests.support.s3_faults import HEALTHY, THROTTLED, Fault


class FaultKind(StrEnum):
    """The fault, if any, of a request or a connection."""

    UNAVAILABLE = "503 of S3"
    RESET = "reset before an answer"
    CUT = "reset within a body of S3"
    STALL = "stalled response of S3"
    LOST_RESPONSE = "lost response of another service"
    CONNECTION_CUT = "connection cut at random"
    WORKER_KILLED = "worker killed"


_S3_SHARES: Final = {
    FaultKind.UNAVAILABLE: 0.01,
    FaultKind.RESET: 0.005,
    FaultKind.CUT: 0.01,
    FaultKind.STALL: 0.004,
}
_OTHER_SHARES: Final = {FaultKind.RESET: 0.002, FaultKind.LOST_RESPONSE: 0.004}
"""Kind → share of the requests; of all services but S3, the second."""

UNREACHABLE: Final = "unreachable"
"""Part of the keys of objects that S3 answers with 503 until the faults end."""

_STALL_SECONDS: Final = (0.2, 3.0)
_LONG_STALL_SECONDS: Final = 22.0  # longer than the hasher waits for a silent connection
_LONG_STALLS: Final = 0.05
_CUT_BYTES: Final = 20_000


class Faults:
    """Decides the fault of each request by a seed; `counts` has the injected ones.

    Attributes:
        counts: Kind → number.
        requests: Number of requests, healthy ones included.
    """

    def __init__(self, seed: int) -> None:
        self.counts: Counter[FaultKind] = Counter()
        self.requests = 0
        self._random = Random(seed)  # noqa: S311 - a plan, not a secret
        self._lock = threading.Lock()
        self._end = threading.Event()

    def next(self, path: str, *, of_s3: bool) -> Fault:
        """The fault of the next request; S3 never answers one for an `UNREACHABLE` object."""
        with self._lock:
            self.requests += 1
            if of_s3 and UNREACHABLE in path:
                self.counts[FaultKind.UNAVAILABLE] += 1
                return THROTTLED
            shares = _S3_SHARES if of_s3 else _OTHER_SHARES
            point = self._random.random()
            for kind, share in shares.items():
                if point < share:
                    self.counts[kind] += 1
                    return self._fault(kind)
                point -= share
            return HEALTHY

    def count(self, kind: FaultKind) -> None:
        """Count a fault that was not decided here."""
        with self._lock:
            self.counts[kind] += 1

    def end(self) -> None:
        """End every stall."""
        self._end.set()

    def _fault(self, kind: FaultKind) -> Fault:
        if kind is FaultKind.UNAVAILABLE:
            return THROTTLED
        if kind is FaultKind.RESET:
            return Fault(hang_up=True)
        if kind is FaultKind.LOST_RESPONSE:
            return Fault(cut_after=0)
        if kind is FaultKind.CUT:
            cut_after = self._random.randrange(_CUT_BYTES)
            return Fault(cut_after=cut_after, gently=self._random.random() < 1 / 2)
        is_long = self._random.random() < _LONG_STALLS
        seconds = _LONG_STALL_SECONDS if is_long else self._random.uniform(*_STALL_SECONDS)
        return Fault(pause=lambda sent: None if sent else self._end.wait(seconds))
