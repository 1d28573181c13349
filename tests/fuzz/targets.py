"""All parsers that are fuzzed."""

from __future__ import annotations

from typing import Final

from tests.fuzz.archives import ARCHIVES
from tests.fuzz.inventory import INVENTORY
from tests.fuzz.notifications import NOTIFICATIONS
from tests.fuzz.saved_state import SAVED_STATE
from tests.fuzz.sweep_input import SWEEP_INPUT

TARGETS: Final = (NOTIFICATIONS, SWEEP_INPUT, SAVED_STATE, INVENTORY, ARCHIVES)
