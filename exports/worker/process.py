"""What the attempts of one worker process share: its name, its keeper, its watcher and its way out."""

from __future__ import annotations

import os
import secrets
import socket
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING

from exports.worker.keeper import LeaseKeeper
from exports.worker.watcher import StopWatcher

if TYPE_CHECKING:
    from exports.worker.drain import Drain


def _own_name() -> str:
    # A pid is reused after a restart on the same host, so a few random digits tell two lives of it apart.
    return f"{socket.gethostname()}:{os.getpid()}:{secrets.token_hex(3)}"


@dataclass(frozen=True)
class WorkerProcess:
    """One process of role exports_worker. `worker_id` is what claimed_by and observed_by record.

    `alone`: it was started for one job, and shares its fate with no other.
    """

    drain: Drain
    alone: bool = False
    using: str = "default"
    worker_id: str = field(default_factory=_own_name)
    keeper: LeaseKeeper = field(init=False)
    watcher: StopWatcher = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "keeper", LeaseKeeper(self.using))
        object.__setattr__(self, "watcher", StopWatcher(self.using))


@cache
def of_this_process(drain: Drain, *, alone: bool) -> WorkerProcess:
    """Return the one worker this process is; made at the first wake-up, after any fork."""
    return WorkerProcess(drain, alone)
