"""Sequencers, which order the events of one key."""

from __future__ import annotations

import re
from typing import Final

from bucketsum.table.stored_fields import stored

NO_SEQUENCER: Final = ""
"""Sequencer of an object that no event of its creation announced. Padded, it is lower than that of
every event."""

_SEQUENCER_WIDTH: Final = 32
_PADDED: Final = re.compile(r"[0-9A-F]{32}")


def comparable_sequencer(sequencer: str) -> str:
    """Pad on the right, as S3 prescribes, so that comparing texts compares events of one key."""
    return sequencer.upper().ljust(_SEQUENCER_WIDTH, "0")


def padded_sequencer(text: str) -> str:
    """*text*, if `comparable_sequencer` made it.

    Raises:
        ValueError: It did not, so no condition on the order of events can be met.
    """
    if not _PADDED.fullmatch(text):
        raise ValueError(f"{text!r:.80} is not a sequencer")
    return text


SEQUENCER: Final = stored(read=padded_sequencer, write=comparable_sequencer)
