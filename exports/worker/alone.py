"""A job that has used up attempts runs alone in a process of its own.

If it is what killed the worker (memory, a crash in native code), it then takes no healthy neighbour with it:
only its own attempts are burnt, up to AttemptsExhausted. The message stays with the parent, which settles it
when the child says that the row carries the work, and leaves it unsettled when the child ends without a word.
"""

from __future__ import annotations

import logging
import subprocess
import sys
import threading
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from django.conf import settings

from exports.disposition import Disposition
from exports.observability import handing

if TYPE_CHECKING:
    from collections.abc import Callable
    from uuid import UUID

    from exports.worker.drain import Drain

logger = logging.getLogger(__name__)

ALONE_FROM_ATTEMPTS = 2
"""One crash may be the deploy's or a neighbour's; from the second on, the job itself is under suspicion."""
SETTLED = "settled"
"""What the child says on its standard output once the row carries the work."""
COUNTED = "counted "
"""What it says in the end: its counts, for its parent, which is scraped."""
LOOK_SECONDS = 0.2
"""How soon a shutdown of the parent is passed on; short against any drain bound."""


def run_alone(job_id: UUID, settle_message: Callable[[], None], drain: Drain) -> Disposition:
    """Run the wake-up in a child process and wait for its end, which its own lease and bounds decide."""
    command = [sys.executable, "-m", "django", "run_wake_up", str(job_id)]
    settled = False
    with subprocess.Popen(command, cwd=settings.BASE_DIR, stdout=subprocess.PIPE, text=True) as child:
        told = threading.Thread(target=_pass_on_shutdown, args=(child, drain), name=f"alone-{child.pid}", daemon=True)
        told.start()
        # Read to its end, so that it never stands still writing; whatever happens here, it is waited for.
        for line in child.stdout or ():
            if line.strip() == SETTLED:
                settle_message()
                settled = True
            elif line.startswith(COUNTED):
                _add(line.removeprefix(COUNTED))
    told.join()
    return Disposition.SETTLED if settled else Disposition.UNSETTLED


def _pass_on_shutdown(child: subprocess.Popen[str], drain: Drain) -> None:
    """Tell the child once when this process is told to go; it drains by the same rules."""
    while child.poll() is None:
        if drain.wait_begun(LOOK_SECONDS):
            child.terminate()
            return
        with suppress(subprocess.TimeoutExpired):
            child.wait(LOOK_SECONDS)


def _add(counts: str) -> None:
    """Take over the child's counts; a line that is none costs the counts and nothing else."""
    try:
        handing.add(counts)
    except (ValueError, TypeError, KeyError) as error:
        logger.warning("counts_not_taken_over", extra={"error": type(error).__name__})


def offer_oneself_to_the_oom_killer() -> None:
    """Make the kernel choose this process before its parent when memory runs out (Linux; else nothing)."""
    with suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text("1000")
