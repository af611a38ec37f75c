"""Publish wake-ups from the outbox until told to stop."""

from __future__ import annotations

import json
import signal
from dataclasses import asdict
from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from exports import broker, dispatcher
from exports.conf import limits
from exports.observability import canary
from exports.observability.heartbeats import Heartbeat
from exports.observability.serving import serve_counters


class Command(BaseCommand):
    """The dispatcher process; SIGTERM and SIGINT end it after the batch in hand."""

    help = __doc__ or ""

    def add_arguments(self, parser: CommandParser) -> None:
        """Take --once: one batch, its counts as JSON."""
        parser.add_argument("--once", action="store_true", help="publish one batch and print its counts")

    def handle(self, *_: Any, once: bool, **__: Any) -> None:
        """Dispatch once or until told to stop."""
        if once:
            self.stdout.write(json.dumps(asdict(dispatcher.run_once(limits().dispatch_batch))))
            return
        for signum in (signal.SIGTERM, signal.SIGINT):
            signal.signal(signum, lambda *_: broker.process_drain.begin())
        Heartbeat("dispatcher", is_well=dispatcher.progress.is_recent).start()
        serve_counters()
        dispatcher.progress.then(canary.Forwarder(broker.publish_canary))
        dispatcher.run(broker.process_drain)
