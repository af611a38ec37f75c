"""For a process whose clock is wrong: what shifts its clock breaks sleeping until a moment of the monotonic clock.

Python sleeps that way, and waits for everything else in another; so it sleeps as it waits.
"""

import select
import time
from typing import SupportsIndex


def _sleep(seconds: float | SupportsIndex, /) -> None:
    select.select([], [], [], float(seconds))


time.sleep = _sleep
