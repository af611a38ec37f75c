"""The names under which processes, queues and beat are last seen; importable before Django is set up."""

from __future__ import annotations

QUEUES = ("exports", "maintenance")
"""The queues without whose consumer the whole does not work."""

CANARY_EVERY_SECONDS = 5.0
"""The readiness check misses nine of them in a row before it calls a queue deaf."""

BEAT = "beat"


def row_of(queue: str) -> str:
    """Return the name of the row that says when this queue was last listened to."""
    return f"queue:{queue}"
