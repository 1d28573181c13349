"""The state of moto after a set-up that many tests share: made once, then a copy for each."""

import copyreg
import io
import pickle
import threading
from collections.abc import Callable
from typing import Any, Final

from moto.backends import get_backend
from moto.core.base_backend import BackendDict

_LOCKS: Final[dict[type[Any], Any]] = {
    type(threading.Lock()): lambda _: (threading.Lock, ()),
    type(threading.RLock()): lambda _: (threading.RLock, ()),
}
_USED: Final[list[Any]] = vars(BackendDict)["_instances"]
"""Services that have a state, which moto empties."""

_STATES: Final[dict[Callable[..., object], bytes]] = {}


def set_up(make: Callable[..., object], *arguments: object) -> None:
    """Bring moto into the state that *make*, a module's function, leaves.

    Moto is empty, or always in the same state before; the *arguments* change nothing of it.
    """
    if make in _STATES:
        restore(_STATES[make])
    else:
        make(*arguments)
        _STATES[make] = saved()


def saved(*services: str) -> bytes:
    """All that moto has now, or what these services have."""
    file = io.BytesIO()
    pickler = pickle.Pickler(file)
    pickler.dispatch_table = {**copyreg.dispatch_table, **_LOCKS}
    kept = [used for used in _USED if not services or used.service_name in services]
    pickler.dump([(backends.service_name, dict(backends)) for backends in kept])
    return file.getvalue()


def restore(state: bytes) -> None:
    """Let moto have what it had when *state* was saved."""
    for service, accounts in pickle.loads(state):  # noqa: S301 - ours
        backends: Any = get_backend(service)
        backends.update(accounts)
        if not any(used is backends for used in _USED):
            _USED.append(backends)
