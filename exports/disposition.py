"""What became of a wake-up's message."""

from __future__ import annotations

from enum import StrEnum


class Disposition(StrEnum):
    """SETTLED for good: the row carries the work. UNSETTLED: to be delivered again."""

    SETTLED = "Settled"
    UNSETTLED = "Unsettled"
