"""What a process does, in order: the crash points it passes, and its effects on the database and the outer world."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from django.db import connections

from exports import broker, crashpoints
from exports.sql import STATEMENTS
from exports.worker import partner
from tests.faults.points import all_points
from tests.faults.wire_proxy import statement

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import pytest

    from tests.faults.wire_proxy import WireProxy

READS_OR_LOCKS = {"lock_for_cancellation", "lock_gate", "take_outbox"}
"""Registered statements that change nothing."""
OFF_THE_PATH = {
    "renew_lease": "the keeper's own thread repeats it all the time; a crash around it is a crash anywhere else",
    "open_hold": "a hold too many or too few delays a wake-up, and is opened again by whoever finds the same",
}
"""Statements that need no point of their own, with the reason."""
WRITES = {name: statement(name) for name in STATEMENTS if name not in READS_OR_LOCKS | OFF_THE_PATH.keys()}
ASKED_OF_A_PARTNER = frozenset({"look", "read_back", "upload", "publish", "write_final", "remove", "put"})
SAID_OF_ITSELF = frozenset({"server", "host_key", "doubtful", "publish_form", "set_deadline", "healthy", "close"})
"""What a session answers without asking anybody for anything that matters."""
ONLY_LOOKS = frozenset({"look_in", "hash_in", "fetch", "temporaries"})
"""Questions of the acknowledgment collector and of the scavenger: they change nothing, and no attempt asks them."""
OF_PROBES = frozenset({"scratch"})
"""What a person's probe of a destination tries, in a folder that no export is delivered to."""


@dataclass(frozen=True)
class Step:
    """A crash point passed, or an effect."""

    name: str
    is_point: bool


class Trace:
    """The steps of one thread of work, as they happen."""

    def __init__(self) -> None:
        self.steps: list[Step] = []
        self._in_transaction = False

    @property
    def points(self) -> set[str]:
        """Return the points that were passed."""
        return {step.name for step in self.steps if step.is_point}

    def effect(self, name: str) -> None:
        """Note an effect that a crash afterwards cannot undo."""
        self.steps.append(Step(name, is_point=False))

    def saw(self, text: str) -> None:
        """Note a statement on its way to the server: inside a transaction only its COMMIT is an effect."""
        if text.startswith("BEGIN"):
            self._in_transaction = True
        elif text.startswith("COMMIT"):
            self._in_transaction = False
            self.effect("commit")
        elif not self._in_transaction:
            for name in [name for name, matches in WRITES.items() if matches(text)]:
                self.effect(name)

    def unseparated(self) -> list[tuple[str, str]]:
        """Return the pairs of effects with no point between them, the beginning and the end counting as effects."""
        whole = [Step("the beginning", is_point=False), *self.steps, Step("the end", is_point=False)]
        return [(one.name, other.name) for one, other in pairwise(whole) if not one.is_point and not other.is_point]

    def surroundings(self) -> list[tuple[str, str, str]]:
        """Return each effect with the last point before it and the first one after it."""
        found = []
        for at, step in enumerate(self.steps):
            if not step.is_point:
                before = [each.name for each in self.steps[:at] if each.is_point]
                after = [each.name for each in self.steps[at:] if each.is_point]
                found.append((step.name, before[-1], after[0]))
        return found


class Watched:
    """A partner's session whose requests are noted."""

    def __init__(self, session: Any, trace: Trace) -> None:
        self._session = session
        self._trace = trace

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._session, name)
        return self._noting(name, found) if name in ASKED_OF_A_PARTNER else found

    def _noting(self, name: str, request: Callable[..., Any]) -> Callable[..., Any]:
        def ask(*args: Any, **named: Any) -> Any:
            self._trace.effect(name)
            return request(*args, **named)

        return ask


@contextmanager
def tracing(proxy: WireProxy, monkeypatch: pytest.MonkeyPatch) -> Iterator[Trace]:
    """Note everything the processes of the product do in the block, their database lines led through the proxy."""
    trace = Trace()
    proxy.watch = trace.saw
    for point in all_points():
        crashpoints.arm(point, lambda point=point: trace.steps.append(Step(point, is_point=True)))  # type: ignore[misc]
    opened, published = partner.open_unpooled, broker.publish
    monkeypatch.setattr(partner, "open_unpooled", lambda *args: _connected(opened(*args), trace))

    def publish(*args: Any) -> None:
        trace.effect("broker.publish")
        published(*args)

    monkeypatch.setattr(broker, "publish", publish)
    with _all_through(proxy):
        yield trace
    crashpoints.disarm()


def _connected(session: Any, trace: Trace) -> Watched:
    trace.effect("connect")
    return Watched(session, trace)


@contextmanager
def _all_through(proxy: WireProxy) -> Iterator[None]:
    aliases = ("api", "worker", "dispatcher", "acknowledger")
    ports = {alias: connections.databases[alias]["PORT"] for alias in aliases}
    for alias in aliases:
        connections[alias].close()
        connections.databases[alias]["PORT"] = proxy.port
    try:
        yield
    finally:
        for alias, port in ports.items():
            connections[alias].close()
            connections.databases[alias]["PORT"] = port
