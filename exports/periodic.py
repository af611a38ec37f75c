"""How a command repeats one run: the loop only loops, and a signal ends it after the run in hand."""

from __future__ import annotations

import json
import signal
import threading
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    from django.core.management.base import OutputWrapper


def run_command(run_once: Callable[[], Any], every_seconds: float, out: OutputWrapper, *, once: bool) -> None:
    """Run once, or every so many seconds until SIGTERM or SIGINT; print each run's counts as a line of JSON."""
    told_to_stop = threading.Event()
    if not once:
        for signum in (signal.SIGTERM, signal.SIGINT):
            signal.signal(signum, lambda *_: told_to_stop.set())
    while True:
        out.write(json.dumps(asdict(run_once())))
        if once or told_to_stop.wait(every_seconds):
            return
