"""A contract comes into force by a second person: every state it can be found in, by whom, and what that writes."""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING, Any

import pytest
from django.db import IntegrityError, transaction

from exports.actions.deciding import Decided, DecidedBefore, NoSuchContract, NotReady, OnePerson, Superseded
from exports.actions.propose_contract import Overtaken, Proposed, propose_contract
from exports.holds.reading import hold_on
from exports.holds.waking import run_once
from exports.models import ContractDecision, DestinationContract, DestinationSecret, Hold, OutboxMessage
from exports.queries.agreed import standing_of
from exports.states import Decision
from exports.worker.policy import Allow, BuiltInPolicy
from tests.agreed.agreeing import ANN, BOB, CID, confirm, decline, in_force, proposal, propose, terms
from tests.people import a_destination, a_tenant, an_export
from tests.recovery import lives

if TYPE_CHECKING:
    from exports.models import Destination

pytestmark = pytest.mark.django_db(transaction=True, databases=["default", "api", "worker"])


def allowed_under(job: Any) -> Any:
    decision = BuiltInPolicy().evaluate(job, "worker")
    return decision.contract_id if isinstance(decision, Allow) else None


def test_what_one_person_writes_and_another_confirms_is_in_force(destination: Destination) -> None:
    first = propose(destination)
    assert in_force(destination) is None
    assert standing_of(destination).pending == first

    answer = confirm(first)

    assert isinstance(answer, Decided)
    assert in_force(destination) == first.id
    kept = ContractDecision.objects.get()
    assert (kept.decision, kept.proposed_by, kept.decided_by) == (Decision.CONFIRMED, ANN, BOB)
    assert (kept.is_one_person, kept.reason) == (False, "as in the letter")
    assert standing_of(destination).pending is None


def test_a_change_that_is_not_confirmed_alters_nothing_that_runs(destination: Destination) -> None:
    first = propose(destination)
    confirm(first)
    second = propose(destination)

    assert allowed_under(an_export(destination)) == first.id
    confirm(second)
    assert allowed_under(an_export(destination)) == second.id
    decline(propose(destination))
    assert allowed_under(an_export(destination)) == second.id


def test_exports_that_waited_for_the_first_confirmation_are_woken(destination: Destination) -> None:
    job = an_export(destination)
    lives.age(job, seconds=60)

    confirm(propose(destination))

    hold = Hold.objects.get()
    assert (hold.destination_id, hold.ended_by) == (destination.id, BOB)
    assert hold_on(job, "worker") is None
    run_once(10, "worker")
    assert OutboxMessage.objects.filter(job_id=job.id).count() == 2
    confirm(propose(destination))
    assert Hold.objects.count() == 1


def test_nobody_confirms_what_they_wrote(destination: Destination) -> None:
    first = propose(destination)

    assert confirm(first, ANN) == OnePerson((ANN,))
    assert in_force(destination) is None
    assert not ContractDecision.objects.exists()


def test_nobody_confirms_a_version_that_builds_upon_theirs(destination: Destination) -> None:
    propose(destination, ANN)
    second = propose(destination, BOB)

    assert confirm(second, ANN) == OnePerson((BOB, ANN))
    assert confirm(second, BOB) == OnePerson((BOB, ANN))
    assert isinstance(confirm(second, CID), Decided)


@pytest.mark.parametrize("decide", [confirm, decline])
def test_who_wrote_what_was_decided_before_may_confirm_what_came_after(destination: Destination, decide: Any) -> None:
    decide(propose(destination, ANN), CID)
    second = propose(destination, BOB)

    assert isinstance(confirm(second, ANN), Decided)


def test_one_person_alone_needs_the_setting_and_is_on_record(destination: Destination) -> None:
    first = propose(destination, ANN)

    assert isinstance(confirm(first, ANN, allow_same_person=True), Decided)
    assert in_force(destination) == first.id
    assert ContractDecision.objects.get().is_one_person
    second = propose(destination, ANN)
    assert isinstance(confirm(second, BOB, allow_same_person=True), Decided)
    assert not ContractDecision.objects.get(contract=second).is_one_person


def test_what_builds_upon_ones_own_is_one_person_too(destination: Destination) -> None:
    propose(destination, ANN)
    second = propose(destination, BOB)

    confirm(second, ANN, allow_same_person=True)

    assert ContractDecision.objects.get(contract=second).is_one_person


@pytest.mark.parametrize("decide", [confirm, decline])
def test_only_the_latest_version_can_be_decided(destination: Destination, decide: Any) -> None:
    first = propose(destination)
    second = propose(destination)

    assert decide(first, CID) == Superseded(second)
    assert in_force(destination) is None
    assert not ContractDecision.objects.exists()


@pytest.mark.parametrize(("before", "after"), [(confirm, decline), (decline, confirm)])
def test_a_decision_is_final(destination: Destination, before: Any, after: Any) -> None:
    first = propose(destination)
    before(first, BOB)
    was = in_force(destination)

    answer = after(first, CID)

    assert answer == DecidedBefore(ContractDecision.objects.get())
    assert answer.decision.decided_by == BOB
    assert in_force(destination) == was


@pytest.mark.parametrize("decide", [confirm, decline])
def test_a_decision_sent_twice_is_one(destination: Destination, decide: Any) -> None:
    first = propose(destination)

    answers = [decide(first), decide(first)]

    assert answers[0] == answers[1]
    assert isinstance(answers[0], Decided)
    assert isinstance(decide(first, reason="for another reason"), DecidedBefore)


def test_whoever_wrote_it_may_turn_it_down(destination: Destination) -> None:
    assert isinstance(decline(propose(destination, ANN), ANN), Decided)


def test_what_follows_a_declined_version_starts_from_what_is_in_force(destination: Destination) -> None:
    first = propose(destination)
    confirm(first)
    decline(propose(destination))

    destination.refresh_from_db()
    standing = standing_of(destination)

    assert (standing.pending, standing.base) == (None, first)
    assert propose(destination).version == 3


def test_what_must_not_be_trusted_yet_is_not_confirmed(destination: Destination) -> None:
    first = propose(destination)
    asked: list[DestinationContract] = []

    def judge(contract: DestinationContract, using: str) -> list[str]:
        asked.append(contract)
        assert using == "api"
        return ["The connection has not been tested yet."]

    assert confirm(first, judge=judge) == NotReady(("The connection has not been tested yet.",))
    assert asked == [first]
    assert in_force(destination) is None
    assert isinstance(decline(first), Decided)
    assert isinstance(confirm(first, judge=judge), DecidedBefore)


@pytest.mark.parametrize("decide", [confirm, decline])
def test_another_tenants_version_is_missing(destination: Destination, decide: Any) -> None:
    first = propose(destination)

    assert decide(first, tenant_id=a_tenant().id) == NoSuchContract()
    assert decide(first, contract_id=uuid.uuid4()) == NoSuchContract()
    assert not ContractDecision.objects.exists()


@pytest.mark.parametrize("decide", [confirm, decline])
def test_what_is_in_force_since_before_decisions_were_kept_stays_so(destination: Destination, decide: Any) -> None:
    kept = DestinationContract.objects.create(
        destination=destination, version=1, terms={}, reason="old", created_by=ANN
    )
    destination.active_contract = kept
    destination.save()

    assert isinstance(decide(kept, BOB), OnePerson)
    assert in_force(destination) == kept.id
    second = propose(destination, BOB)
    assert isinstance(confirm(second, ANN), Decided)


def test_a_version_is_built_upon_the_latest_one_or_not_written(destination: Destination) -> None:
    first = propose(destination)

    for version in (0, 2):
        answer = propose_contract(proposal(destination, expected_version=version), using="api")
        assert answer == Overtaken(first)
    assert DestinationContract.objects.count() == 1
    assert DestinationSecret.objects.count() == 1


def test_a_proposal_sent_twice_is_one(destination: Destination) -> None:
    wanted = proposal(destination)

    answers = [propose_contract(wanted, using="api") for _ in range(2)]

    assert answers[0] == answers[1]
    assert isinstance(answers[0], Proposed)
    assert DestinationContract.objects.count() == DestinationSecret.objects.count() == 1


def test_a_proposal_under_the_id_of_another_is_not_written(destination: Destination) -> None:
    first = propose(destination)

    wanted = proposal(destination, BOB, contract_id=first.id)

    assert propose_contract(wanted, using="api") == Overtaken(first)
    assert DestinationSecret.objects.count() == 1


def test_a_version_names_no_credential_of_another_destination(destination: Destination) -> None:
    elsewhere = a_destination(a_tenant())
    stolen = propose(elsewhere).terms["auth"]["secret_id"]

    answer = propose_contract(proposal(destination, terms=terms(stolen), sealed=None), using="api")

    assert answer == Overtaken(None)
    assert not DestinationContract.objects.filter(destination=destination).exists()


def test_a_version_of_another_tenants_destination_is_not_written(destination: Destination) -> None:
    answer = propose_contract(proposal(destination, tenant_id=a_tenant().id), using="api")

    assert answer == Overtaken(None)
    assert not DestinationContract.objects.exists()
    assert not DestinationSecret.objects.exists()


ALONE: dict[str, Any] = {"decision": "Confirmed", "decided_by": ANN, "is_one_person": False, "reason": "x"}


@pytest.mark.parametrize(
    "lie",
    [
        {"proposed_by": ANN},
        {"proposed_by": BOB},
        {"proposed_by": ANN, "decision": "Perhaps", "decided_by": BOB},
    ],
    ids=["by its author", "in another author's name", "undecidedly"],
)
def test_the_database_itself_takes_no_confirmation_by_one_person(destination: Destination, lie: Any) -> None:
    first = propose(destination, ANN)

    with pytest.raises(IntegrityError), transaction.atomic():
        ContractDecision.objects.create(contract=first, **ALONE | lie)


def test_no_process_puts_a_version_in_force_past_a_decision(destination: Destination) -> None:
    other = a_destination(destination.tenant)
    first, elsewhere = propose(destination), propose(other)
    confirm(elsewhere)

    for contract in (first, elsewhere):
        with pytest.raises(Exception, match="only once it is confirmed"):
            type(destination).objects.using("api").filter(id=destination.id).update(active_contract=contract)
    with pytest.raises(Exception, match="only once it is confirmed"):
        type(destination).objects.using("api").create(
            tenant_id=destination.tenant_id, name="n", active_contract_id=elsewhere.id
        )
    assert in_force(destination) is None


def test_no_process_goes_back_to_an_earlier_version_or_to_none(destination: Destination) -> None:
    first, second = (propose(destination) for _ in range(2))
    confirm(second)
    third = propose(destination)
    confirm(third)

    for contract in (None, first, second):
        with pytest.raises(Exception, match="only once it is confirmed"):
            type(destination).objects.using("api").filter(id=destination.id).update(active_contract=contract)
    assert in_force(destination) == third.id
