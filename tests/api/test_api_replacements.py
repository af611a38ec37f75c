"""Sending again over REST: only in the name of an approver of the tenant, and every refusal in its own words."""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING, Any

import pytest
from django.utils import timezone

from exports.models import Client, ExportJob, Membership, OverwriteAgreement
from exports.states import FailureReason, Status
from tests.lives import delivered, running, unknown
from tests.people import a_caller, a_person, a_tenant

if TYPE_CHECKING:
    from django.contrib.auth.models import User

    from exports.models import Destination, Tenant
    from tests.people import Caller

pytestmark = pytest.mark.django_db(transaction=True, databases=["default", "api", "worker"])

APPROVERS = "Export replacement approvers"
ANSWERS: dict[str, Any] = {
    "original_may_still_upload": {"yes": False, "source": "its access was revoked"},
    "reconciliation_was_tried": {"yes": True, "source": "ticket 8"},
    "partner_deduplicates": {"yes": True, "source": "contract, section 4"},
}
NEVERTHELESS = {**ANSWERS, "why_nevertheless": "nobody can settle it any more"}
BODY: dict[str, Any] = {"reason": "the partner lost it", "answers": ANSWERS}


def bound_to(person: User | None, *tenants: Tenant, verbs: tuple[str, ...] = ("replace",)) -> Caller:
    """Return a client that acts for the person."""
    caller = a_caller(*tenants, verbs=verbs)
    Client.objects.filter(user=caller.user).update(person=person)
    return caller


@pytest.fixture
def ruth(tenant: Tenant) -> User:
    return a_person(tenant, group=APPROVERS, username="ruth")


@pytest.fixture
def caller(tenant: Tenant, ruth: User) -> Caller:
    return bound_to(ruth, tenant)


@pytest.fixture
def failed(destination: Destination) -> ExportJob:
    return running(destination).fail(FailureReason.BUILD_FAILED).job


def ask(caller: Caller, job: ExportJob | uuid.UUID, **changes: Any) -> Any:
    job_id = job.id if isinstance(job, ExportJob) else job
    return caller.post({**BODY, **changes}, f"{job_id}/replacements/")


def refused(answer: Any, status: int, code: str) -> dict[str, Any]:
    assert answer.status_code == status, answer.content
    body: dict[str, Any] = answer.json()
    assert body["code"] == code
    return body


def replacements() -> int:
    return ExportJob.objects.exclude(replaces_job_id=None).count()


def test_a_replacement_is_created_in_the_name_of_the_person(caller: Caller, failed: ExportJob) -> None:
    answer = ask(caller, failed)

    assert answer.status_code == 201
    made = answer.json()
    assert answer["Location"].endswith(f"/api/v1/exports/{made['id']}/")
    assert (made["created_by"], made["status"], made["replaces_job_id"]) == ("user:ruth", "Queued", str(failed.id))
    assert made["delivery_key"] == failed.delivery_key
    assert "the original may still upload: no (its access was revoked)" in made["replacement_reason"]


def test_the_same_request_again_is_the_same_replacement(caller: Caller, failed: ExportJob) -> None:
    request_id = str(uuid.uuid4())

    first, again = (ask(caller, failed, id=request_id) for _ in range(2))

    assert (first.status_code, again.status_code) == (201, 200)
    assert first.json()["id"] == again.json()["id"] == request_id
    assert replacements() == 1


def test_a_replacements_id_is_resolved_to_its_original(caller: Caller, failed: ExportJob) -> None:
    first = ask(caller, failed).json()["id"]
    ExportJob.objects.db_manager("worker").reject(job_id=uuid.UUID(first), checked_version=1, reasons=("no",))

    assert ask(caller, uuid.UUID(first)).json()["replaces_job_id"] == str(failed.id)


def test_a_client_bound_to_nobody_is_told_that_a_person_is_required(tenant: Tenant, failed: ExportJob) -> None:
    for verbs in (("replace",), ("add", "view")):
        refused(ask(bound_to(None, tenant, verbs=verbs), failed), 403, "PersonRequired")
    assert replacements() == 0


def test_only_an_active_approver_of_the_tenant_will_do(tenant: Tenant, failed: ExportJob) -> None:
    gone = a_person(tenant, group=APPROVERS, is_active=False)
    elsewhere = a_person(a_tenant(), group=APPROVERS)
    operator = a_person(tenant, group="Export operators")
    superuser = a_person(tenant, is_superuser=True)
    machine = a_caller(tenant).user
    member = a_person(tenant, group=APPROVERS)
    machine.groups.set(member.groups.all())

    for person in (gone, elsewhere, operator, superuser, machine):
        refused(ask(bound_to(person, tenant), failed), 403, "PersonRequired")
    assert replacements() == 0


def test_whoever_leaves_the_group_or_the_tenant_approves_nothing_any_more(
    caller: Caller, ruth: User, tenant: Tenant, failed: ExportJob
) -> None:
    Membership.objects.filter(user=ruth, tenant=tenant).delete()
    refused(ask(caller, failed), 403, "PersonRequired")
    Membership.objects.create(user=ruth, tenant=tenant)
    ruth.groups.clear()
    refused(ask(caller, failed), 403, "PersonRequired")
    assert replacements() == 0


def test_a_client_without_the_verb_may_not(tenant: Tenant, ruth: User, failed: ExportJob) -> None:
    refused(ask(bound_to(ruth, tenant, verbs=("add", "view", "cancel")), failed), 403, "Forbidden")


def test_a_missing_and_another_tenants_export_look_alike(caller: Caller, ruth: User, failed: ExportJob) -> None:
    stranger = bound_to(ruth, a_tenant())

    answers = [ask(stranger, failed), ask(caller, uuid.uuid4())]

    assert [answer.status_code for answer in answers] == [404, 404]
    assert answers[0].content == answers[1].content


def test_an_original_that_may_not_be_replaced_says_how_it_stands(caller: Caller, destination: Destination) -> None:
    body = refused(ask(caller, delivered(destination).job), 409, "NotReplaceable")
    assert (body["status"], body["failure_reason"]) == ("Completed", None)

    occupied = running(destination).fail(FailureReason.FINAL_NAME_OCCUPIED).job
    body = refused(ask(caller, occupied), 409, "NotReplaceable")
    assert (body["status"], body["failure_reason"]) == ("Failed", "FinalNameOccupied")


def test_a_live_replacement_is_named(caller: Caller, failed: ExportJob) -> None:
    first = ask(caller, failed).json()["id"]

    assert refused(ask(caller, failed), 409, "ReplacementExists")["replacement_id"] == first


def test_an_id_of_something_else_is_refused(caller: Caller, failed: ExportJob) -> None:
    refused(ask(caller, failed, id=str(failed.id)), 409, "IdReused")


def test_an_answer_that_speaks_against_it_needs_a_reason(caller: Caller, destination: Destination) -> None:
    job = unknown(destination).job

    body = refused(ask(caller, job), 400, "Invalid")

    (words,) = body["fields"]["answers"].values()
    assert "No reconciliation of the original is on record." in words
    assert ask(caller, job, answers=NEVERTHELESS).status_code == 201


def test_an_agreement_has_to_be_on_record_for_the_destination(caller: Caller, failed: ExportJob) -> None:
    body = refused(ask(caller, failed, overwrite_agreement_ref="letter 12"), 400, "Invalid")
    assert list(body["fields"]) == ["overwrite_agreement_ref"]

    OverwriteAgreement.objects.create(
        ref="letter 12",
        tenant_id=failed.tenant_id,
        destination_id=failed.destination_id,
        agreed_by="Pia",
        agreed_at=timezone.now(),
        under_contract="3",
        recorded_by="user:ann",
    )
    made = ask(caller, failed, overwrite_agreement_ref="letter 12").json()
    assert made["overwrite_agreement_ref"] == "letter 12"


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"reason": ""}, "reason"),
        ({"reason": "x" * 2_001}, "reason"),
        ({"reason": "a\x00b"}, "reason"),
        ({"answers": None}, "answers"),
        ({"answers": {}}, "answers"),
        ({"answers": {**ANSWERS, "partner_deduplicates": {"yes": True}}}, "answers"),
        ({"answers": {**ANSWERS, "partner_deduplicates": {"yes": "perhaps", "source": "x"}}}, "answers"),
        ({"answers": {**ANSWERS, "partner_deduplicates": {"yes": None, "source": "x"}}}, "answers"),
        ({"id": 7}, "id"),
    ],
)
def test_a_wrong_body_is_answered_by_field(
    caller: Caller, failed: ExportJob, changes: dict[str, Any], field: str
) -> None:
    assert list(refused(ask(caller, failed, **changes), 400, "Invalid")["fields"]) == [field]
    assert replacements() == 0


def test_only_posting_is_possible(caller: Caller, failed: ExportJob) -> None:
    refused(caller.get(f"{failed.id}/replacements/"), 405, "MethodNotAllowed")


def test_the_original_keeps_its_record(caller: Caller, failed: ExportJob) -> None:
    ask(caller, failed)

    assert ExportJob.objects.get(id=failed.id).status == Status.FAILED
