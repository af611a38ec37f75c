"""The matrix row "Mapping checks", for Django: what the locking read returns is what the model maps."""

from __future__ import annotations

import re

import pytest
from django.db import connections, transaction

from exports.models import CancellationRequest, ExportJob
from exports.sql import STATEMENTS
from tests.recovery.lives import ALIASES, a_place, queued, running

pytestmark = pytest.mark.django_db(transaction=True, databases=ALIASES)


def mapped_columns(model: type[ExportJob | CancellationRequest]) -> list[str]:
    return [str(field.column) for field in model._meta.concrete_fields]


def test_the_locking_reads_columns_are_the_models_fields_in_their_order() -> None:
    """A new mapped column fails here, and not the cancel button."""
    columns = re.search(r"SELECT(.*?)FROM", STATEMENTS["lock_for_cancellation"].text, re.DOTALL)
    assert columns is not None
    assert [name.strip() for name in columns[1].split(",")] == mapped_columns(ExportJob)


def test_the_record_returns_the_models_fields_in_their_order() -> None:
    columns = re.search(r"RETURNING(.*)", STATEMENTS["record_cancellation"].text, re.DOTALL)
    assert columns is not None
    assert [name.strip() for name in columns[1].split(",")] == mapped_columns(CancellationRequest)


def test_the_model_maps_every_column_that_the_table_has() -> None:
    with connections["default"].cursor() as cursor:
        described = connections["default"].introspection.get_table_description(cursor, "export_jobs")
    assert {column.name for column in described} == set(mapped_columns(ExportJob))


def test_the_locked_row_equals_the_row_as_the_model_reads_it() -> None:
    for job in (queued(a_place()), running(a_place())):
        with transaction.atomic("api"):
            locked = ExportJob.objects.db_manager("api").lock_for_cancellation(tenant_id=job.tenant_id, job_id=job.id)
        assert locked is not None
        for name in mapped_columns(ExportJob):
            assert getattr(locked, name) == getattr(job, name), name
