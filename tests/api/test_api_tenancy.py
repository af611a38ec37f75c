"""Every path of the API, walked by a client of another tenant: whatever is not its own looks missing."""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING, Any

import pytest
from django.urls import reverse

from exports.api.urls import urlpatterns
from exports.models import CancellationRequest, ExportJob
from tests.people import a_caller, a_destination, a_tenant, an_export

if TYPE_CHECKING:
    from collections.abc import Iterator

    from exports.api.base import ClientView
    from tests.people import Caller
    from tests.routing import RoleClient

pytestmark = pytest.mark.django_db(transaction=True, databases=["default", "api"])

EVERY_VERB = ("add", "view", "cancel", "change_terms", "replace")


def paths_of_one_export() -> Iterator[tuple[str, type[ClientView]]]:
    """Every named path that takes an export's id, with its view: those of tomorrow included."""
    for pattern in urlpatterns:
        view = getattr(pattern.callback, "cls", None)
        if "job_id" in pattern.pattern.converters and view is not None:
            yield str(pattern.name), view


WALKS = [(name, method) for name, view in paths_of_one_export() for method in view.verbs]


def ask(browser: RoleClient, caller: Caller, name: str, method: str, job_id: uuid.UUID) -> Any:
    body = {
        "request_id": str(uuid.uuid4()),
        "destination_id": str(uuid.uuid4()),
        "expected_version": 1,
        "reason": "because",
        "answers": {},
    }
    path = reverse(f"api:{name}", args=[job_id])
    send = getattr(browser, method.lower())
    if method == "GET":
        return send(path, headers=caller.headers)
    return send(path, body, content_type="application/json", headers=caller.headers)


def test_the_walk_takes_in_what_there_is() -> None:
    assert {("export", "GET"), ("events", "GET"), ("cancellation-requests", "GET")} <= set(WALKS)


@pytest.mark.parametrize(("name", "method"), WALKS)
def test_another_tenants_export_looks_missing_on_every_path(browser: RoleClient, name: str, method: str) -> None:
    theirs = an_export(a_destination(a_tenant()))
    stranger = a_caller(a_tenant(), verbs=EVERY_VERB)

    foreign = ask(browser, stranger, name, method, theirs.id)
    missing = ask(browser, stranger, name, method, uuid.uuid4())

    assert foreign.status_code == missing.status_code == 404
    assert foreign.content == missing.content
    assert not CancellationRequest.objects.exists()
    assert ExportJob.objects.get().status == "Queued"


@pytest.mark.parametrize(("name", "method"), WALKS)
def test_without_the_verb_every_path_is_forbidden_for_ones_own_export_too(
    browser: RoleClient, name: str, method: str
) -> None:
    tenant = a_tenant()
    job = an_export(a_destination(tenant))

    assert ask(browser, a_caller(tenant, verbs=()), name, method, job.id).status_code == 403


@pytest.mark.parametrize(("name", "method"), WALKS)
def test_without_a_token_every_path_asks_for_one(browser: RoleClient, name: str, method: str) -> None:
    job = an_export(a_destination(a_tenant()))
    path = reverse(f"api:{name}", args=[job.id])

    assert browser.generic(method, path).status_code == 401
