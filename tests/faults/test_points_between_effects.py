"""A crash can fall between any two effects: no two of them follow each other without a point in between.

Effects are seen from outside the product: statements on their way to the server, requests to a partner, messages
to and from the broker. So a new one without a point fails here, whoever adds it.
"""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any

import pytest

from exports import crashpoints
from exports.destinations.protocol import Session
from exports.sql import STATEMENTS
from tests.faults.points import all_points
from tests.faults.scenarios import SCENARIOS, Scenario, wake
from tests.faults.tracing import (
    ASKED_OF_A_PARTNER,
    OF_PROBES,
    OFF_THE_PATH,
    ONLY_LOOKS,
    READS_OR_LOCKS,
    SAID_OF_ITSELF,
    tracing,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from config.devstack.partner import PartnerAccount
    from tests.faults.wire_proxy import WireProxy

pytestmark = pytest.mark.django_db(
    transaction=True, databases=["default", "api", "worker", "dispatcher", "acknowledger"]
)

POINTS_OF = {
    "append_evidence": {"evidence", "recover.evidence", "person_evidence"},
    "authorize_delivery": {"authorize"},
    "cancel_queued": {"cancel.commit"},
    "change_terms": {"terms"},
    "claim": {"claim"},
    "collect_acknowledgment": {"acknowledgment.append"},
    "complete_acknowledged": {"acknowledgment.complete"},
    "correct": {"correct"},
    "create_export": {"create"},
    "create_replacement": {"replace"},
    "exhaust": {"recover.exhausted"},
    "finish_delivery": {"finished"},
    "finish_failed": {"failed"},
    "finish_stopped": {"stopped"},
    "mark_published": {"dispatch.commit"},
    "reconcile": {"reconcile"},
    "record_cancellation": {"cancel.commit"},
    "reject": {"reject"},
    "request_stop": {"cancel.commit"},
    "requeue": {"recover.requeued"},
    "resolve": {"recover.resolved"},
    "return_lease": {"returned"},
    "stop_expired": {"recover.stopped"},
    "sweep": {"sweep"},
    "wake_waiting": {"wake"},
}
"""Between which points each registered write stands, or the COMMIT it is part of."""


@pytest.fixture(autouse=True)
def _disarmed(settings: Any) -> Iterator[None]:
    settings.EXPORTS = settings.EXPORTS
    yield
    crashpoints.disarm()


@pytest.mark.parametrize("scenario", SCENARIOS, ids=[scenario.name for scenario in SCENARIOS])
def test_a_point_stands_before_after_and_between_all_effects(
    scenario: Scenario,
    partner: PartnerAccount,
    proxy: WireProxy,
    settings: Any,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    world = scenario.world(partner)
    settings.EXPORTS = scenario.limits()
    job_id = scenario.arrange(world)
    with tracing(proxy, monkeypatch) as trace:
        if scenario.act is wake:
            wake(job_id, scenario.role, lambda: trace.effect("settle the message"))
        else:
            scenario.act(job_id, scenario.role)

    assert any(not step.is_point for step in trace.steps), "a scenario without an effect proves nothing"
    assert trace.unseparated() == []
    for name, before, after in trace.surroundings():
        assert name not in POINTS_OF or {before, after} <= sides_of(POINTS_OF[name]), (before, name, after)
    assert set(scenario.points) <= trace.points


def test_every_request_a_session_can_make_is_either_an_effect_or_known_to_be_none() -> None:
    offered = {name for name, _ in inspect.getmembers(Session) if not name.startswith("_")}
    assert offered == ASKED_OF_A_PARTNER | SAID_OF_ITSELF | ONLY_LOOKS | OF_PROBES


def test_every_registered_write_has_its_points() -> None:
    assert set(STATEMENTS) == POINTS_OF.keys() | READS_OR_LOCKS | OFF_THE_PATH.keys()
    assert all_points() >= set().union(*(sides_of(names) for names in POINTS_OF.values()))


def sides_of(names: set[str]) -> set[str]:
    """Return the points before and after, by their names."""
    return {f"{name}.{side}" for name in names for side in ("before", "after")}
