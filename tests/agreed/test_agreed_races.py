"""Two people at once: whoever comes second waits for the first, and is told what the first did."""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING, Any

import pytest

from exports.actions.change_destination import DestinationChange, NameTaken, change_destination
from exports.actions.confirm_contract import confirm_contract
from exports.actions.deciding import Decided, DecidedBefore, Superseded
from exports.actions.decline_contract import decline_contract
from exports.actions.propose_contract import Overtaken, Proposed, propose_contract
from exports.managers.agreed import AGREED
from exports.models import ContractDecision, DestinationContract, DestinationSecret
from exports.states import Decision
from tests.agreed.agreeing import ANN, BOB, CID, in_force, no_objections, proposal, propose, verdict
from tests.people import an_export
from tests.recovery.sessions import Background, session, wait_until_blocked_by

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import psycopg

    from exports.models import Destination

pytestmark = pytest.mark.django_db(transaction=True, databases=["default", "api", "worker"])


@pytest.fixture
def first_in() -> Iterator[psycopg.Connection[Any]]:
    """Give a session of the web process, in a transaction that the test ends."""
    with session("api") as connection:
        connection.autocommit = False
        yield connection
        connection.rollback()


def hold(connection: psycopg.Connection[Any], destination: Destination) -> None:
    """Hold the destination, as the first of two does."""
    lock = {"destination_id": destination.id, "tenant_id": destination.tenant_id}
    assert connection.execute(AGREED["lock_destination"].text.encode(), lock).fetchone()


def second(connection: psycopg.Connection[Any], act: Callable[[], Any], first: Callable[[], Any]) -> Any:
    """Let `act` run into the first one's lock; then have the first finish, and return what the second was told."""
    waiting = Background(act)
    wait_until_blocked_by(connection)
    first()
    connection.commit()
    return waiting.result()


def confirming(contract: DestinationContract, by: str) -> Callable[[], Any]:
    wanted = verdict(contract, by)
    return lambda: confirm_contract(wanted, allow_same_person=False, judge=no_objections, using="api")


def declining(contract: DestinationContract, by: str) -> Callable[[], Any]:
    wanted = verdict(contract, by)
    return lambda: decline_contract(wanted, using="api")


def decide(connection: psycopg.Connection[Any], contract: DestinationContract, name: str, by: str) -> None:
    wanted = {"tenant_id": contract.destination.tenant_id, "contract_id": contract.id, "decided_by": by, "reason": "x"}
    more = {"allow_same_person": False} if name == "confirm_contract" else {}
    assert connection.execute(AGREED[name].text.encode(), wanted | more).fetchone()


@pytest.mark.parametrize("name", ["confirm_contract", "decline_contract"])
@pytest.mark.parametrize("act", [confirming, declining])
def test_of_two_who_decide_at_once_the_second_is_told_by_whom(
    destination: Destination, first_in: psycopg.Connection[Any], act: Any, name: str
) -> None:
    contract = propose(destination)

    hold(first_in, destination)
    answer = second(first_in, act(contract, CID), lambda: decide(first_in, contract, name, BOB))

    kept = ContractDecision.objects.get()
    assert answer == DecidedBefore(kept)
    assert kept.decided_by == BOB
    confirmed = kept.decision == Decision.CONFIRMED
    assert in_force(destination) == (contract.id if confirmed else None)


@pytest.mark.parametrize("act", [confirming, declining])
def test_who_decides_while_it_is_changed_again_decides_nothing(
    destination: Destination, first_in: psycopg.Connection[Any], act: Any
) -> None:
    contract = propose(destination)
    wanted = proposal(destination)
    row = {
        "contract_id": wanted.contract_id,
        "destination_id": destination.id,
        "expected_version": 1,
        "terms": "{}",
        "reason": "changed again",
        "created_by": ANN,
    }

    hold(first_in, destination)
    answer = second(
        first_in, act(contract, BOB), lambda: first_in.execute(AGREED["propose_contract"].text.encode(), row)
    )

    assert answer == Superseded(DestinationContract.objects.get(version=2))
    assert not ContractDecision.objects.exists()
    assert in_force(destination) is None


def test_of_two_who_write_the_same_version_one_does(
    destination: Destination, first_in: psycopg.Connection[Any]
) -> None:
    wanted, other = proposal(destination), proposal(destination, BOB)
    row = {
        "contract_id": other.contract_id,
        "destination_id": destination.id,
        "expected_version": 0,
        "terms": "{}",
        "reason": "quicker",
        "created_by": BOB,
    }

    hold(first_in, destination)
    answer = second(
        first_in,
        lambda: propose_contract(wanted, using="api"),
        lambda: first_in.execute(AGREED["propose_contract"].text.encode(), row),
    )

    assert answer == Overtaken(DestinationContract.objects.get())
    assert not DestinationSecret.objects.exists()


def test_who_writes_while_the_last_one_is_confirmed_writes_the_next(
    destination: Destination, first_in: psycopg.Connection[Any]
) -> None:
    contract = propose(destination)
    wanted = proposal(destination)

    hold(first_in, destination)
    answer = second(
        first_in,
        lambda: propose_contract(wanted, using="api"),
        lambda: decide(first_in, contract, "confirm_contract", BOB),
    )

    assert isinstance(answer, Proposed)
    assert answer.contract.version == 2
    assert in_force(destination) == contract.id


def test_who_gives_up_leaves_the_second_free_to_decide(
    destination: Destination, first_in: psycopg.Connection[Any]
) -> None:
    contract = propose(destination)

    hold(first_in, destination)
    waiting = Background(confirming(contract, CID))
    wait_until_blocked_by(first_in)
    decide(first_in, contract, "confirm_contract", BOB)
    first_in.rollback()
    answer = waiting.result()

    assert isinstance(answer, Decided)
    assert answer.decision.decided_by == CID


def test_exports_are_created_while_somebody_decides(
    destination: Destination, first_in: psycopg.Connection[Any]
) -> None:
    contract = propose(destination)
    hold(first_in, destination)
    decide(first_in, contract, "confirm_contract", BOB)

    assert an_export(destination).destination_id == destination.id


def test_of_two_who_give_the_same_name_at_once_one_does(
    destination: Destination, first_in: psycopg.Connection[Any]
) -> None:
    row = {"destination_id": uuid.uuid4(), "tenant_id": destination.tenant_id, "name": "wanted by two"}
    change = DestinationChange(
        tenant_id=destination.tenant_id,
        destination_id=destination.id,
        found=(destination.name, True),
        wanted=("wanted by two", True),
    )
    first_in.execute(AGREED["create_destination"].text.encode(), row)

    answer = second(first_in, lambda: change_destination(change, using="api"), lambda: None)

    assert answer == NameTaken()
    destination.refresh_from_db()
    assert destination.name != "wanted by two"
