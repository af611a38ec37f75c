"""POST exports/: one export a request, whatever is sent twice."""

from __future__ import annotations

import re
import uuid
from typing import TYPE_CHECKING

import pytest

from exports.actions.request_cancellation import Click, request_cancellation
from exports.models import CreationRequest, Delivery, ExportJob, OutboxMessage, TermsChange
from tests.people import a_caller, a_destination, a_tenant

if TYPE_CHECKING:
    from exports.models import Destination, Tenant
    from tests.people import Caller

pytestmark = pytest.mark.django_db(transaction=True, databases=["default", "api"])


def asked(destination: Destination, request_id: uuid.UUID | None = None) -> dict[str, str]:
    return {"destination_id": str(destination.id)} | ({"id": str(request_id)} if request_id else {})


def nothing_was_written() -> bool:
    tables = (ExportJob, Delivery, CreationRequest, OutboxMessage)
    return not any(table.objects.exists() for table in tables)


def test_a_new_export_is_queued_with_its_key_its_request_and_its_first_wake_up(
    caller: Caller, destination: Destination
) -> None:
    answer = caller.post(asked(destination))

    body = answer.json()
    assert answer.status_code == 201
    assert answer["Location"].endswith(f"/api/v1/exports/{body['id']}/")
    assert (body["status"], body["version"], body["created_by"]) == ("Queued", 1, f"client:{caller.name}")
    assert (body["cancellable"], body["held"]) == ("CanceledWhileQueued", None)
    assert Delivery.objects.get().delivery_key == body["delivery_key"]
    assert CreationRequest.objects.get().job_id == uuid.UUID(body["id"])
    assert OutboxMessage.objects.get().job_id == uuid.UUID(body["id"])


def test_the_clients_request_id_becomes_the_exports_id_and_the_key_is_another(
    caller: Caller, destination: Destination
) -> None:
    request_id = uuid.uuid4()

    body = caller.post(asked(destination, request_id)).json()

    assert body["id"] == str(request_id)
    assert re.fullmatch("[A-Za-z0-9-]+", body["delivery_key"])
    assert request_id.hex not in body["delivery_key"].replace("-", "")


def test_the_same_request_again_is_the_same_export(caller: Caller, destination: Destination) -> None:
    request = asked(destination, uuid.uuid4())

    first, second = caller.post(request), caller.post(request)

    assert (first.status_code, second.status_code) == (201, 200)
    assert second.json() == first.json()
    assert ExportJob.objects.count() == OutboxMessage.objects.count() == 1


def test_an_honest_retry_after_an_edit_of_the_terms_gets_the_same_export(
    caller: Caller, destination: Destination, tenant: Tenant
) -> None:
    request = asked(destination, uuid.uuid4())
    created = caller.post(request).json()
    elsewhere = a_destination(tenant)
    moved = ExportJob.objects.db_manager("api").change_terms(
        tenant_id=tenant.id,
        job_id=created["id"],
        destination_id=elsewhere.id,
        expected_version=1,
        changed_by="user:ann",
        reason=None,
    )

    again = caller.post(request)

    assert moved == 2
    assert again.status_code == 200
    assert again.json()["destination_id"] == str(elsewhere.id)
    assert TermsChange.objects.count() == 1


def test_terms_that_an_edit_made_since_are_not_the_terms_first_asked_for(
    caller: Caller, destination: Destination, tenant: Tenant
) -> None:
    request_id, elsewhere = uuid.uuid4(), a_destination(tenant)
    caller.post(asked(destination, request_id))
    ExportJob.objects.db_manager("api").change_terms(
        tenant_id=tenant.id,
        job_id=request_id,
        destination_id=elsewhere.id,
        expected_version=1,
        changed_by="user:ann",
        reason=None,
    )

    assert caller.post(asked(elsewhere, request_id)).status_code == 409


def test_an_honest_retry_after_a_cancellation_shows_it(
    caller: Caller, destination: Destination, tenant: Tenant
) -> None:
    request_id = uuid.uuid4()
    caller.post(asked(destination, request_id))
    request_cancellation(
        Click(tenant_id=tenant.id, job_id=request_id, request_id=uuid.uuid4(), requested_by="user:ann"), using="api"
    )

    again = caller.post(asked(destination, request_id))

    assert (again.status_code, again.json()["status"]) == (200, "Canceled")
    assert again.json()["cancellable"] == "AlreadyCanceled"


def test_an_id_used_for_other_terms_by_another_client_or_in_another_tenant_is_refused_alike(
    caller: Caller, destination: Destination, tenant: Tenant
) -> None:
    request_id, elsewhere = uuid.uuid4(), a_tenant()
    caller.post(asked(destination, request_id))

    answers = [
        caller.post(asked(a_destination(tenant), request_id)),
        a_caller(tenant).post(asked(destination, request_id)),
        a_caller(elsewhere).post(asked(a_destination(elsewhere), request_id)),
    ]

    assert {answer.status_code for answer in answers} == {409}
    assert len({answer.content for answer in answers}) == 1
    assert answers[0].json()["code"] == "IdReused"
    assert ExportJob.objects.count() == 1


def test_an_unknown_and_another_tenants_destination_get_the_same_answer_and_write_nothing(
    caller: Caller,
) -> None:
    foreign = a_destination(a_tenant())

    answers = [caller.post({"destination_id": str(uuid.uuid4())}), caller.post(asked(foreign))]

    assert {answer.status_code for answer in answers} == {404}
    assert answers[0].content == answers[1].content
    assert answers[0].json()["code"] == "NotFound"
    assert nothing_was_written()


def test_for_a_client_of_several_tenants_the_destination_decides() -> None:
    here, there = a_tenant(), a_tenant()
    caller = a_caller(here, there)

    bodies = [caller.post(asked(a_destination(tenant))).json() for tenant in (here, there)]

    assert [body["tenant"] for body in bodies] == [here.slug, there.slug]


def test_a_client_that_may_only_look_creates_nothing(tenant: Tenant, destination: Destination) -> None:
    answer = a_caller(tenant, verbs=("view",)).post(asked(destination))

    assert (answer.status_code, answer.json()["code"]) == (403, "Forbidden")
    assert nothing_was_written()
