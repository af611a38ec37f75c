"""Wake-ups run in this process against a real partner, as in the fault tests."""

from tests.faults.fixtures import spool, waking, world

__all__ = ["spool", "waking", "world"]
