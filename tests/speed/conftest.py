"""Speed is held by counts of statements, round trips and connections: times depend on who else is on the machine."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest
from django.db import connections

from tests.bench.life import Terms, live
from tests.bench.parts.protocol import NULL_TERMS
from tests.bench.places import a_place

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


@pytest.fixture
def one_life() -> Callable[[], None]:
    """Return what lives one export's life, delivered nowhere, on sessions that have prepared everything."""
    place = a_place(NULL_TERMS)
    terms = Terms(place.tenant.id, place.destination.id, place.contract.id, NULL_TERMS)
    live(terms)
    return lambda: live(terms)


class RoundTrips:
    """How often a connection was waited for."""

    def __init__(self) -> None:
        self.count = 0


@contextmanager
def counted_round_trips(using: str) -> Iterator[RoundTrips]:
    """Count the waits for answers on an alias's connection."""
    raw: Any = connections[using].connection
    counted, wait = RoundTrips(), raw.wait

    def count(*arguments: Any, **named: Any) -> Any:
        counted.count += 1
        return wait(*arguments, **named)

    raw.wait = count
    try:
        yield counted
    finally:
        raw.wait = wait
