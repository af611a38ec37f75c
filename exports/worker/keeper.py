"""The lease keeper: one thread and one connection a process renew every attempt it runs (I3).

A renewal that throws is retried and stops nothing; one that changes no row means a takeover has ended the
attempt's ownership, which stops its preparation but never an upload. One row's lock wait may not delay the
others' renewal, so each renewal waits for a lock at most a small part of the interval.
"""

from __future__ import annotations

import logging
import threading
import time
from typing import TYPE_CHECKING

from django.db import DatabaseError, InterfaceError, close_old_connections, connections

from exports.conf import limits
from exports.models import ExportJob
from exports.observability import counters
from exports.states import Written

if TYPE_CHECKING:
    from collections.abc import Callable
    from uuid import UUID

logger = logging.getLogger(__name__)

LOCK_TIMEOUT_MS = 500
"""A cancellation or a takeover holds a row for milliseconds; who holds it longer is tried again soon."""
RETRY_PART = 4
"""A renewal that got no answer is tried again after this part of the interval, well within the lease."""
ON_DEMAND_TRIES = 4
"""How often renewal on demand tries; with its pauses about two seconds, so that cutoff 2 is not kept waiting."""


class HeldLease:
    """One attempt's lease, from the confirmed claim to its last write.

    `current_until` is this process's own judgement, by a monotonic clock read before the renewal was sent:
    the database's expiry is never earlier.
    """

    def __init__(
        self,
        job_id: UUID,
        attempt_id: UUID,
        lost: Callable[[], None],
        claimed_at: float,
        finished: Callable[[], None] = lambda: None,
    ) -> None:
        self.job_id = job_id
        self.attempt_id = attempt_id
        self.current_until = claimed_at + limits().lease_seconds
        self.due_at = claimed_at + limits().renew_seconds
        self._lost = lost
        self._tell_finished = finished
        self._end_expected = False
        self._finished = False
        self._one_at_a_time = threading.Lock()

    @property
    def ids(self) -> dict[str, str]:
        """What a line about this lease is found by; the keeper's thread has no context of its own."""
        return {"job_id": str(self.job_id), "attempt_id": str(self.attempt_id)}

    @property
    def is_finished(self) -> bool:
        """Whether the attempt's last write is behind it; a finished lease is never renewed or reported lost."""
        return self._finished

    def renew(self, using: str) -> Written | None:
        """Renew once; None when it is finished. Renewals by timer and on demand take turns here."""
        with self._one_at_a_time:
            if self._finished:
                return None
            sent_at = time.monotonic()
            written = ExportJob.objects.db_manager(using).renew_lease(
                job_id=self.job_id, attempt_id=self.attempt_id, lease_seconds=limits().lease_seconds
            )
            if written is Written.APPLIED:
                self.current_until = sent_at + limits().lease_seconds
                self.due_at = sent_at + limits().renew_seconds
                return written
        self._report_lost()
        return written

    def renew_now(self, using: str = "default") -> bool:
        """Renew on demand, trying a few times; False when a takeover has committed or no try got an answer."""
        for turn in range(ON_DEMAND_TRIES):
            try:
                return self.renew(using) is Written.APPLIED
            except (DatabaseError, InterfaceError) as error:
                counters.renewals_failed.labels("on_demand").inc()
                logger.warning("renewal_failed", extra=self.ids | {"why": "on_demand", "error": type(error).__name__})
                connections[using].close()
                time.sleep(0.1 * 2**turn)
        return False

    def expect_end(self) -> None:
        """Say that the attempt's last write is about to be sent: a renewal that finds no row is no loss any more."""
        self._end_expected = True

    def finish(self) -> None:
        """End renewals: wait for one in flight, then never renew or report a loss again. Never throws."""
        self._end_expected = True
        with self._one_at_a_time:
            self._finished = True
        self._tell_finished()

    def _report_lost(self) -> None:
        if not self._end_expected:
            counters.renewals_failed.labels("lost").inc()
            logger.warning("lease_lost", extra=self.ids)
            self._lost()


class LeaseKeeper:
    """Renews all leases of this process from one thread; started with the first lease, it idles without any."""

    def __init__(self, using: str = "default") -> None:
        self._using = using
        self._leases: set[HeldLease] = set()
        self._changed = threading.Condition()
        self._thread: threading.Thread | None = None

    def hold(self, job_id: UUID, attempt_id: UUID, lost: Callable[[], None], claimed_at: float) -> HeldLease:
        """Keep a claimed attempt's lease renewed; `lost` is called (once) when a takeover has ended it."""
        lease = HeldLease(job_id, attempt_id, lost, claimed_at, self._look_again)
        with self._changed:
            self._leases.add(lease)
            self._ensure_thread()
            self._changed.notify()
        return lease

    def _look_again(self) -> None:
        """Let the thread see a lease that was finished; after the last one it gives its session up."""
        with self._changed:
            self._changed.notify()

    def _ensure_thread(self) -> None:
        if self._thread is None or not self._thread.is_alive():
            self._thread = threading.Thread(target=self._run, name="lease-keeper", daemon=True)
            self._thread.start()

    def _run(self) -> None:
        while True:
            for lease in self._wait_for_due():
                self._renew(lease)

    def _wait_for_due(self) -> list[HeldLease]:
        with self._changed:
            next_due = min((lease.due_at for lease in self._live()), default=None)
            if next_due is None:
                connections[self._using].close()  # an idle keeper keeps no session
                self._changed.wait()
            else:
                self._changed.wait(max(0.0, next_due - time.monotonic()))
            now = time.monotonic()
            return sorted((x for x in self._live() if x.due_at <= now), key=lambda lease: lease.due_at)

    def _live(self) -> set[HeldLease]:
        self._leases = {lease for lease in self._leases if not lease.is_finished}
        return self._leases

    def _renew(self, lease: HeldLease) -> None:
        try:
            self._open()
            if lease.renew(self._using) is Written.REFUSED:
                lease.finish()
        except Exception as error:  # noqa: BLE001 - the one thread that keeps every lease must outlive anything
            counters.renewals_failed.labels("no_answer").inc()
            logger.warning("renewal_failed", extra=lease.ids | {"why": "no_answer", "error": type(error).__name__})
            lease.due_at = time.monotonic() + limits().renew_seconds / RETRY_PART
            self._drop_broken()

    def _open(self) -> None:
        close_old_connections()
        connection = connections[self._using]
        fresh = connection.connection is None
        connection.ensure_connection()
        if fresh:
            with connection.cursor() as cursor:
                cursor.execute(f"SET lock_timeout = {LOCK_TIMEOUT_MS}")

    def _drop_broken(self) -> None:
        raw = connections[self._using].connection
        if raw is None or raw.closed or raw.broken:
            connections[self._using].close()
