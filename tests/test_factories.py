"""The factories make what they say, by the ways that are allowed."""

from __future__ import annotations

import pytest
from django.db import connection

from exports.models import CreationRequest, Delivery, ExportAttemptEvent, OutboxMessage
from exports.states import FailureReason, Status
from tests.factories import ContactFactory, ContractFactory, ExportFactory

pytestmark = pytest.mark.django_db


def constraints_hold() -> None:
    with connection.cursor() as cursor:
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")


@pytest.mark.parametrize("status", Status)
def test_an_export_is_made_in_every_status_with_everything_of_its_birth(status: Status) -> None:
    made = ExportFactory.create(status=status)
    constraints_hold()
    assert made.status == status
    assert (made.failure_reason is not None) is (status is Status.FAILED)
    assert Delivery.objects.get(original_job_id=made.id).delivery_key == made.delivery_key
    assert CreationRequest.objects.filter(job_id=made.id, destination_id=made.destination_id).exists()
    assert OutboxMessage.objects.filter(job_id=made.id).count() == 1
    claimed = ExportAttemptEvent.objects.filter(job_id=made.id, kind="Claimed")
    assert [event.attempt_id for event in claimed] == ([made.attempt_id] if made.attempt_id else [])


def test_columns_of_a_state_can_be_given() -> None:
    made = ExportFactory.create(status=Status.FAILED, failure_reason=FailureReason.BUILD_FAILED, attempt_count=3)
    assert (made.failure_reason, made.attempt_count, made.delivery_authorized_at) == ("BuildFailed", 3, None)


def test_a_replacement_carries_the_key_of_its_original() -> None:
    original = ExportFactory.create(status=Status.OUTCOME_UNKNOWN)
    replacement = ExportFactory.create(original=original, status=Status.RUNNING)
    constraints_hold()
    assert replacement.replaces_job_id == original.id
    assert replacement.delivery_key == original.delivery_key
    assert replacement.tenant_id == original.tenant_id


def test_contacts_and_contracts_belong_to_somebody() -> None:
    assert ContactFactory.create().tenant.contacts.count() == 1
    assert ContractFactory.create().destination.contracts.count() == 1
