"""Connections to one destination, shared by the attempts of one process, never more than the contract allows.

A partner that gets a connection per export refuses them sooner or later. A session is used by one attempt at a
time, comes back when its attempt is done, and is checked before it is used again. One whose answers are in doubt
is closed instead: after a timeout nobody can tell which answer belongs to which question.
"""

import threading
import time
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final

from exports.destinations.protocol import ConnectTrouble, CouldNotConnect, Session

IDLE_SECONDS: Final = 60.0
"""An unused session is closed after this; many servers close it themselves not much later."""


@dataclass(frozen=True)
class _Idle:
    session: Session
    since: float


class Pool:
    """Sessions for one destination under one version of its contract, at most `most` at a time."""

    def __init__(self, most: int, idle_seconds: float = IDLE_SECONDS) -> None:
        self._most: Final = most
        self._idle_seconds: Final = idle_seconds
        self._idle: list[_Idle] = []
        self._in_use = 0
        self._changed: Final = threading.Condition()

    @contextmanager
    def session(self, opener: Callable[[], Session], wait_seconds: float) -> Iterator[Session]:
        """Lend a session, opening one if needed, waiting so long for a free slot; raises CouldNotConnect.

        Leaving the block gives it back. `opener` is taken at each use, so that a changed secret is used at once.
        """
        self._take_slot(wait_seconds)
        try:
            session = self._reused() or opener()
        except BaseException:
            self._free_slot()
            raise
        try:
            yield session
        finally:
            self._give_back(session)

    def close_idle(self) -> int:
        """Close sessions that were not used for a while; returns how many. Call it now and then."""
        with self._changed:
            old = [each for each in self._idle if time.monotonic() - each.since >= self._idle_seconds]
            self._idle = [each for each in self._idle if each not in old]
        for each in old:
            each.session.close()
        return len(old)

    def close(self) -> None:
        """Close every session that is not lent out."""
        with self._changed:
            idle, self._idle = self._idle, []
        for each in idle:
            each.session.close()

    @property
    def in_use(self) -> int:
        """Sessions lent out now."""
        return self._in_use

    def _take_slot(self, wait_seconds: float) -> None:
        with self._changed:
            if not self._changed.wait_for(lambda: self._in_use < self._most, wait_seconds):
                words = f"all {self._most} connections that the contract allows are in use"
                raise CouldNotConnect(ConnectTrouble.TOO_MANY_CONNECTIONS, words)
            self._in_use += 1

    def _free_slot(self) -> None:
        with self._changed:
            self._in_use -= 1
            self._changed.notify()

    def _reused(self) -> Session | None:
        """Return the freshest idle session that still answers, closing those that do not."""
        while (session := self._pop_idle()) is not None:
            if session.healthy():
                return session
            session.close()
        return None

    def _pop_idle(self) -> Session | None:
        with self._changed:
            return self._idle.pop().session if self._idle else None

    def _give_back(self, session: Session) -> None:
        session.set_deadline(None)
        doubtful = session.doubtful
        if doubtful:
            session.close()
        with self._changed:
            if not doubtful:
                self._idle.append(_Idle(session, time.monotonic()))
            self._in_use -= 1
            self._changed.notify()


class Pools:
    """The pools of one process, one for each destination and version of its contract."""

    def __init__(self) -> None:
        self._pools: dict[Hashable, Pool] = {}
        self._lock: Final = threading.Lock()

    def pool(self, key: Hashable, most: int) -> Pool:
        """Return the pool under `key`, made on first use. A new contract version is a new key.

        Pools are never forgotten: one that was, while somebody is about to use it, would let its successor
        open as many connections again. An empty one costs nothing.
        """
        with self._lock:
            return self._pools.setdefault(key, Pool(most))

    def close_idle(self) -> int:
        """Close what was not used for a while; returns the sessions closed."""
        return sum(pool.close_idle() for pool in self._all())

    def close(self) -> None:
        """Close everything that is not lent out."""
        for pool in self._all():
            pool.close()

    def _all(self) -> list[Pool]:
        with self._lock:
            return list(self._pools.values())
