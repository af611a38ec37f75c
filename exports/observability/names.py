"""The names under which processes, queues and beat are last seen; importable before Django is set up."""

from __future__ import annotations

QUEUES = ("exports", "maintenance")
"""The queues without whose consumer the whole does not work."""

CANARY_EVERY_SECONDS = 5.0
"""The readiness check misses nine of them in a row before it calls a queue deaf."""

CANARY_KEPT_SECONDS = 900.0
"""One that waited for longer is dropped, so that they do not pile up where nobody listens; far above any difference
between the clocks of machines."""

BEAT = "beat"
WAKE_UPS = "wake_ups"
"""The way of a wake-up: from a committed row over dispatcher, broker and queue into a pool."""
ASKED = "asked"
"""The row with which a worker asks the dispatcher for a canary on that way."""


def row_of(queue: str) -> str:
    """Return the name of the row that says when this queue was last listened to."""
    return f"queue:{queue}"
