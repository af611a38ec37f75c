"""Contact data that an attempt could not take away itself: files left in the spool directory, and at partners.

A worker that was killed leaves its file, and so does a disk that refused to remove one. Each host cleans its
own spool: a file goes when its attempt is no longer live and nobody has written to it for a while. Nothing but
files named by an attempt is touched, no link is followed, and what cannot be removed stays where it is, so that
the next run tries again.
"""

from __future__ import annotations

import logging
import os
import time
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from itertools import islice
from typing import TYPE_CHECKING, Final

from django.db import DatabaseError, InterfaceError, close_old_connections

from exports import leftovers
from exports.conf import limits
from exports.leftovers import Cleared
from exports.models import ExportJob
from exports.observability import counters
from exports.observability.heartbeats import forget_gone
from exports.states import Status
from exports.worker.progress import forget_old
from exports.worker.spool import Spool, log_kept, owner_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from uuid import UUID

logger = logging.getLogger(__name__)

LIVE: Final = (Status.RUNNING, Status.DELIVERING)
"""An attempt owns its job, and needs its file, until a takeover or its own last write; an attempt that is not
live never becomes live again."""

AGE_IN_LEASES: Final = 2
"""An attempt that lost its job notices within one lease and may by then have begun to open its file for upload;
after two, whoever still reads it has it open, and an open file outlives its name."""

MOST_REMOVED: Final = 1_000
"""Bound on one scheduled run; a disk with more leftovers is clean after a few."""

MOST_ENTRIES: Final = 100_000
"""Bound on what one run looks at. A live worker has a file an attempt; this many means that all are leftovers."""

_QUERY_BATCH: Final = 500


@dataclass(frozen=True, slots=True)
class Leftover:
    """A file old enough to ask about: its name, whose it is, and how much contact data it may hold."""

    name: str
    job_id: UUID
    attempt_id: UUID
    size: int


@dataclass(frozen=True, slots=True)
class Scavenged:
    """What one run did. `live` and `failed` files are still there; `strange` entries are not ours to touch.

    `finished` is False when the database could not say which attempts are live, and so nothing was removed.
    """

    removed: int = 0
    failed: int = 0
    live: int = 0
    young: int = 0
    strange: int = 0
    finished: bool = True
    partners: Cleared = field(default_factory=Cleared)


def run() -> Scavenged:
    """Scavenge once within the scheduled bounds, here and at partners, and log what was found.

    Processes and counts that are gone are forgotten.
    """

    def everywhere() -> Scavenged:
        here = run_once(MOST_REMOVED)
        forget_gone()
        forget_old()
        return replace(here, partners=leftovers.run())

    return _logged(everywhere)


def run_here() -> Scavenged:
    """Clean this host's spool alone, and log what was found: what every worker does by itself.

    Beat's tick reaches one of them; that one also does what needs doing once, at partners and in the database.
    """
    return _logged(lambda: run_once(MOST_REMOVED))


def _logged(scavenge: Callable[[], Scavenged]) -> Scavenged:
    try:
        counts = scavenge()
    except (DatabaseError, InterfaceError) as error:
        logger.warning("scavenger_without_database", extra={"error": type(error).__name__})
        counts = Scavenged(finished=False)
    if counts != Scavenged():
        logger.info("scavenged", extra=asdict(counts))
    return counts


def run_once(limit: int, *, using: str = "default") -> Scavenged:
    """Remove up to `limit` leftovers of the spool directory.

    SpoolRefused when the directory is not one a worker would write to; database errors pass through, and
    nothing is removed that the database has not been asked about.
    """
    close_old_connections()
    spool = Spool.configured()
    with spool.opened() as directory:
        found = list(_entries(directory))
    old = [each for each in found if isinstance(each, Leftover)]
    live = _live_among(old, using)
    removed = failed = 0
    for leftover in old:
        if leftover.attempt_id not in live and removed < limit:
            gone = _remove(spool, leftover)
            removed, failed = removed + gone, failed + (not gone)
    return Scavenged(removed, failed, len(live), found.count("young"), found.count("strange"))


def _entries(directory: int) -> Iterator[Leftover | str]:
    """Say of each entry what it is: a leftover, or "young", or "strange"."""
    oldest_young = time.time() - AGE_IN_LEASES * limits().lease_seconds
    with os.scandir(directory) as entries:
        for entry in islice(entries, MOST_ENTRIES):
            with suppress(FileNotFoundError):  # its worker has just removed it
                yield _judged(entry, oldest_young)


def _judged(entry: os.DirEntry[str], oldest_young: float) -> Leftover | str:
    owner = owner_of(entry.name)
    if owner is None or not entry.is_file(follow_symlinks=False):
        return "strange"
    found = entry.stat(follow_symlinks=False)
    return Leftover(entry.name, *owner, found.st_size) if found.st_mtime < oldest_young else "young"


def _live_among(leftovers: list[Leftover], using: str) -> set[UUID]:
    """Return the attempts that still own their jobs."""
    live: set[UUID] = set()
    for start in range(0, len(leftovers), _QUERY_BATCH):
        batch = leftovers[start : start + _QUERY_BATCH]
        jobs = ExportJob.objects.using(using).filter(id__in=[each.job_id for each in batch], status__in=LIVE)
        wanted = {each.attempt_id for each in batch}
        live |= wanted.intersection(jobs.values_list("attempt_id", flat=True))
    return live


def _remove(spool: Spool, leftover: Leftover) -> bool:
    """Remove one file; a failure is logged and the file tried again by the next run."""
    try:
        spool.remove(leftover.name)
    except FileNotFoundError:
        return True
    except OSError as error:
        log_kept(leftover.name, error)
        return False
    facts = {"job_id": str(leftover.job_id), "attempt_id": str(leftover.attempt_id), "bytes": leftover.size}
    counters.scavenged.inc()
    logger.warning("spool_leftover_removed", extra=facts)
    return True
