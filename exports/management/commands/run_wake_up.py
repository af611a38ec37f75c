"""Take one wake-up as far as it goes, alone in this process; started by a worker, not by people."""

from __future__ import annotations

import signal
from typing import Any
from uuid import UUID

from django.core.management.base import BaseCommand, CommandParser

from exports.observability import handing
from exports.worker import alone, runner
from exports.worker.drain import Drain


class Command(BaseCommand):
    """The child of exports.worker.alone."""

    help = __doc__ or ""
    requires_system_checks = []

    def add_arguments(self, parser: CommandParser) -> None:
        """Take the job's id."""
        parser.add_argument("job_id", type=UUID)

    def handle(self, *_: Any, job_id: UUID, **__: Any) -> None:
        """Run the wake-up; SIGTERM drains as in any worker."""
        drain = Drain()
        for signum in (signal.SIGTERM, signal.SIGINT):
            signal.signal(signum, lambda *_: drain.begin())
        alone.offer_oneself_to_the_oom_killer()
        try:
            runner.run_wake_up(job_id, lambda: self._say(alone.SETTLED), drain=drain, alone=True)
        finally:
            self._say(alone.COUNTED + handing.counted())

    def _say(self, line: str) -> None:
        self.stdout.write(line)
        self.stdout.flush()
