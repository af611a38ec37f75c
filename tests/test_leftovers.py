"""What dead attempts left at partners goes where the contract allows it; nothing else there is ever touched."""

from __future__ import annotations

import json
import uuid
from dataclasses import replace
from io import StringIO
from typing import TYPE_CHECKING, Any

import pytest
from django.core.management import call_command
from django.db import connections

from exports import leftovers
from exports.contracts import Paths, Permissions, Retention
from exports.destinations.naming import attempt_in, temporary_name
from exports.leftovers import Cleared
from exports.secrets import new_key
from exports.states import FailureReason, Status
from tests.recovery import lives

if TYPE_CHECKING:
    from pathlib import Path

    from config.devstack.partner import PartnerAccount
    from exports.models import ExportJob
    from tests.recovery.lives import Place

pytestmark = pytest.mark.django_db(transaction=True, databases=["default", "api", "worker"])

DAY_SECONDS = 86_400
ALLOWED: dict[str, Any] = {"permissions": Permissions(), "retention": Retention(may_remove_leftovers=True)}


@pytest.fixture(autouse=True)
def key(settings: Any, tmp_path: Path) -> str:
    """Let this process reach partners on loopback; return the key their credentials are sealed under."""
    made = new_key()
    (tmp_path / "spool").mkdir(mode=0o700)
    settings.EXPORTS = replace(
        settings.EXPORTS,
        credential_keys=(made, *settings.EXPORTS.credential_keys),
        allow_private_destinations=True,
        spool_dir=tmp_path / "spool",
    )
    leftovers._visited_at.clear()
    return made


@pytest.fixture
def place(partner: PartnerAccount, key: str) -> Place:
    return lives.a_place(partner, sealed_under=key, **ALLOWED)


def left(place: Place, partner: PartnerAccount, job: ExportJob, attempt_id: uuid.UUID | None = None) -> Path:
    """Leave a temporary name of the job's current attempt, or of another, at the partner."""
    attempt = attempt_id or lives.attempt_of(job)
    file = partner.directory / temporary_name(place.contract, place.final_name(job), str(attempt))
    file.write_bytes(b"a contact")
    return file


def days_pass(days: float = 1.1) -> None:
    """Let everything recorded so far lie so long ago."""
    with connections["default"].cursor() as cursor:
        cursor.execute(
            "UPDATE export_attempt_events SET recorded_at = recorded_at - make_interval(days => 1) * %s", [days]
        )


def ended(place: Place) -> ExportJob:
    return lives.finish(lives.delivering(place))


def run() -> Cleared:
    leftovers._visited_at.clear()
    return leftovers.run("worker")


def test_a_name_whose_attempt_ended_long_ago_is_removed_and_logged_with_job_and_attempt(
    place: Place, partner: PartnerAccount, caplog: pytest.LogCaptureFixture
) -> None:
    job = ended(place)
    file = left(place, partner, job)
    days_pass()

    assert run() == Cleared(visited=1, removed=1)
    assert not file.exists()
    (record,) = said(caplog, "partner_leftover_removed")
    assert (record["job_id"], record["attempt_id"]) == (str(job.id), str(job.attempt_id))
    assert run() == Cleared(visited=1)


def said(caplog: pytest.LogCaptureFixture, message: str) -> list[dict[str, Any]]:
    return [vars(each) for each in caplog.records if each.message == message]


def test_a_name_stays_until_its_attempt_has_been_silent_for_the_agreed_age(
    place: Place, partner: PartnerAccount
) -> None:
    file = left(place, partner, ended(place))
    days_pass(0.9)
    assert run() == Cleared(visited=1, kept=1)
    days_pass(0.2)
    assert run() == Cleared(visited=1, removed=1)
    assert not file.exists()


@pytest.mark.parametrize("life", [lives.running, lives.delivering])
def test_a_live_attempts_name_is_kept_however_old_it_is_also_behind_an_expired_lease(
    place: Place, partner: PartnerAccount, life: Any
) -> None:
    job = life(place)
    lives.expire(job)
    file = left(place, partner, job)
    days_pass()
    assert run() == Cleared(visited=1, kept=1)
    assert file.exists()


def test_what_lies_beside_an_unknown_outcome_is_kept_until_somebody_has_settled_it(
    place: Place, partner: PartnerAccount
) -> None:
    job = lives.finish(lives.delivering(place), Status.OUTCOME_UNKNOWN)
    file = left(place, partner, job)
    days_pass()
    assert run() == Cleared(visited=1, kept=1)

    with connections["default"].cursor() as cursor:
        reconciled = "UPDATE export_jobs SET status = 'Failed', failure_reason = %s WHERE id = %s"
        cursor.execute(reconciled, [FailureReason.NOT_DELIVERED, job.id])
    assert run() == Cleared(visited=1, removed=1)
    assert not file.exists()


def test_no_name_is_touched_that_is_not_exactly_one_of_ours(place: Place, partner: PartnerAccount) -> None:
    job, attempt = (made := ended(place)), lives.attempt_of(made)
    final, mine = place.final_name(job), temporary_name(place.contract, place.final_name(job), str(attempt))
    strange = [
        final,  # the delivered file itself
        f".{final}.{uuid.uuid4()}.part",  # of an attempt that nobody knows
        f".contacts-{uuid.uuid4()}.csv.{attempt}.part",  # our attempt, somebody else's key
        f"{final}.{attempt}.part",
        f"{mine}x",
        f".{final}.{attempt}.filepart",
        mine.upper(),
        "orders.csv",
    ]
    for name in strange:
        (partner.directory / name).write_bytes(b"not yours")
    (partner.directory / "folder").mkdir()
    days_pass()
    before = sorted(partner.directory.iterdir())

    cleared = run()

    assert (cleared.removed, cleared.failed, cleared.visited) == (0, 0, 1)
    assert sorted(partner.directory.iterdir()) == before


def test_another_destinations_attempt_is_not_this_ones_business(
    place: Place, partner: PartnerAccount, key: str
) -> None:
    beside = lives.a_place(partner, sealed_under=key, tenant=place.tenant)  # allows nothing
    file = left(beside, partner, ended(beside))
    days_pass()
    assert run().removed == 0
    assert file.exists()


def test_a_contract_that_does_not_allow_it_is_not_even_visited(partner: PartnerAccount, key: str) -> None:
    place = lives.a_place(partner, sealed_under=key)
    file = left(place, partner, ended(place))
    days_pass()
    assert run() == Cleared()
    assert file.exists()


@pytest.mark.parametrize("over", ["destination", "tenant", "everything"])
def test_while_people_hold_a_partner_back_nothing_of_ours_goes_there(
    over: str, place: Place, partner: PartnerAccount
) -> None:
    file = left(place, partner, ended(place))
    days_pass()
    columns = {
        "destination": (None, place.destination.id),
        "tenant": (place.tenant.id, None),
        "everything": (None, None),
    }
    hold = (
        "INSERT INTO holds (id, tenant_id, destination_id, cause, reason, created_by, created_at)"
        " VALUES (gen_random_uuid(), %s, %s, %s, 'stop', 'user:ann', clock_timestamp())"
    )
    with connections["default"].cursor() as cursor:
        cursor.execute(hold, [*columns[over], "Frozen" if over == "everything" else "Paused"])
    assert run() == Cleared()
    assert file.exists()


def test_a_partner_nobody_can_reach_is_left_for_its_next_visit(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO")
    lives.a_place(**ALLOWED)
    assert run() == Cleared(unreached=1)
    assert leftovers.run("worker") == Cleared(), "within the hour nobody knocks again"
    assert said(caplog, "partner_not_visited")


def test_one_visit_removes_a_bounded_number_and_the_next_goes_on(
    place: Place, partner: PartnerAccount, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(leftovers, "MOST_REMOVED", 2)
    for _ in range(3):
        left(place, partner, ended(place))
    days_pass()
    assert run() == Cleared(visited=1, removed=2, kept=1)
    assert run() == Cleared(visited=1, removed=1)


def test_the_command_and_the_scheduled_run_visit_partners_too(place: Place, partner: PartnerAccount) -> None:
    file = left(place, partner, ended(place))
    days_pass()
    out = StringIO()
    call_command("scavenge", once=True, stdout=out)
    counts = json.loads(out.getvalue())
    assert (counts["removed"], counts["partners"]["removed"]) == (0, 1)
    assert not file.exists()


@pytest.mark.parametrize(
    ("prefix", "suffix", "final"), [(".", ".part", ".csv"), ("", ".filepart", ".txt.csv"), (".in.", ".", "")]
)
def test_every_temporary_name_is_read_back_as_what_it_was_made_of(
    place: Place, prefix: str, suffix: str, final: str
) -> None:
    paths = Paths(directory="/", temporary_prefix=prefix, temporary_suffix=suffix, final_suffix=final)
    contract = replace(place.contract, paths=paths)
    attempt = uuid.uuid4()
    name = temporary_name(contract, contract.final_name("a-Key-1"), str(attempt))
    assert attempt_in(contract, name) == ("a-Key-1", attempt)
    assert attempt_in(contract, contract.final_name("a-Key-1")) is None
