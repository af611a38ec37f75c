"""Factories: an export is born by the creation statement; any later state is written as the owner, who may.

They write through Django's `default` alias, which is the owner in tests. What a state must have had (its claim,
its authorization) is in its history; a test that wants a whole life runs the statements instead.
"""

# mypy: disable-error-code="attr-defined,no-untyped-call,no-any-return,name-defined,misc"
# The annotations of factory-boy are partial: it exports and types only some of what it documents.

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING, Any

import factory
from django.db import connection
from psycopg import sql

from exports.models import Contact, Destination, DestinationContract, ExportJob, Tenant
from exports.states import Status, Written
from tests.database.starting import job, past_events

if TYPE_CHECKING:
    from tests.database.starting import Row

KEPT_FROM_BIRTH = {"id", "tenant_id", "destination_id", "delivery_key", "created_by", "woken_at"}


class TenantFactory(factory.django.DjangoModelFactory[Tenant]):
    class Meta:
        model = Tenant

    slug = factory.Sequence(lambda number: f"tenant-{number}")
    name = factory.LazyAttribute(lambda made: made.slug.capitalize())


class DestinationFactory(factory.django.DjangoModelFactory[Destination]):
    class Meta:
        model = Destination

    tenant = factory.SubFactory(TenantFactory)
    name = factory.Sequence(lambda number: f"partner-{number}")


class ContractFactory(factory.django.DjangoModelFactory[DestinationContract]):
    """A version of a destination's contract; `terms` is the JSON of exports.contracts.Contract."""

    class Meta:
        model = DestinationContract

    destination = factory.SubFactory(DestinationFactory)
    version = factory.Sequence(lambda number: number + 1)
    terms = factory.LazyFunction(dict)
    reason = "agreed"
    created_by = "user:ann"


class ContactFactory(factory.django.DjangoModelFactory[Contact]):
    class Meta:
        model = Contact

    tenant = factory.SubFactory(TenantFactory)
    external_id = factory.Sequence(lambda number: f"C-{number}")
    email = factory.LazyAttribute(lambda made: f"{made.external_id.lower()}@example.org")


class ExportFactory(factory.Factory[ExportJob]):
    """One export in `status`; further values replace columns of that state.

    A replacement names its original and is born by its own statement, so the original must allow it.
    """

    class Meta:
        model = ExportJob

    id = factory.LazyFunction(uuid.uuid4)
    destination = factory.SubFactory(DestinationFactory)
    delivery_key = factory.LazyAttribute(lambda made: made.id.hex)
    created_by = "user:ann"
    status = Status.QUEUED
    original = None

    @classmethod
    def _create(cls, _model: type[ExportJob], *_: Any, **values: Any) -> ExportJob:
        status, original = values.pop("status"), values.pop("original")
        made = _replacement(original, values) if original else _original(values)
        _dress(made, status, values)
        return ExportJob.objects.get(pk=made.pk)


def _original(values: dict[str, Any]) -> ExportJob:
    destination = values.pop("destination")
    names = {name: values.pop(name) for name in ("delivery_key", "created_by")}
    place = {"tenant_id": destination.tenant_id, "destination_id": destination.id}
    job_id = values.pop("id")
    assert ExportJob.objects.create_export(job_id=job_id, **place, **names) is Written.APPLIED
    return ExportJob.objects.get(pk=job_id)


def _replacement(original: ExportJob, values: dict[str, Any]) -> ExportJob:
    for carried in ("destination", "delivery_key"):
        values.pop(carried)
    job_id = values.pop("id")
    written = ExportJob.objects.create_replacement(
        job_id=job_id,
        tenant_id=original.tenant_id,
        original_job_id=original.id,
        created_by=values.pop("created_by"),
        replacement_reason=values.pop("replacement_reason", "asked to"),
        overwrite_agreement_ref=values.pop("overwrite_agreement_ref", None),
    )
    assert written is Written.APPLIED, "this original may not be replaced"
    return ExportJob.objects.get(pk=job_id)


def _dress(made: ExportJob, status: Status, values: dict[str, Any]) -> None:
    """Write the columns of the state, and the events it cannot be without."""
    row = job(status, **values)
    changes = {name: value for name, value in row.items() if name not in KEPT_FROM_BIRTH or name in values}
    assignments = sql.SQL(", ").join(sql.SQL("{} = %s").format(sql.Identifier(name)) for name in changes)
    with connection.cursor() as cursor:
        update = sql.SQL("UPDATE export_jobs SET {} WHERE id = %s").format(assignments)
        cursor.execute(update, [*changes.values(), made.pk])
        for kind in past_events(row):
            cursor.execute(_EVENT, [made.pk, row["attempt_id"], kind, _detail(kind, row)])


def _detail(kind: str, row: Row) -> str | None:
    return row["expected_file_name"] if kind == "DeliveryAuthorized" else None


_EVENT = (
    "INSERT INTO export_attempt_events (job_id, attempt_id, kind, detail, recorded_at)"
    " VALUES (%s, %s, %s, %s, clock_timestamp())"
)
