"""Every page of the console in a real browser: no rule of axe is broken in light or dark, nothing is refused."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from django.contrib import admin
from django.urls import reverse

from exports.models import ExportAttemptEvent, ExportJob, Hold, OutboxMessage
from exports.states import Status
from tests.browser.test_browser_pages import everything
from tests.lives import a_contract
from tests.people import a_caller, a_person
from tests.recovery import lives

if TYPE_CHECKING:
    from collections.abc import Callable

    from django.db.models import Model

    from exports.models import Destination, Tenant
    from tests.browser.visiting import Visitor

pytestmark = pytest.mark.django_db(transaction=True, databases=lives.ALIASES)


@pytest.fixture
def root(visit: Callable[..., Visitor]) -> Visitor:
    return visit(a_person(is_superuser=True, username="root"))


def lists() -> dict[str, str]:
    """Return the page of every list the console registers, whatever is added to it later."""
    options = [model._meta for model in admin.site._registry]
    return {
        f"list-{each.model_name}": reverse(f"admin:{each.app_label}_{each.model_name}_changelist") for each in options
    }


def records() -> dict[str, str]:
    """Return the page of one record of every list that has any."""
    found = {}
    for model in admin.site._registry:
        each, row = model._meta, _one(model)
        if row is not None and model is not ExportJob:
            found[f"one-{each.model_name}"] = reverse(f"admin:{each.app_label}_{each.model_name}_change", args=[row.pk])
    return found


def _one(model: type[Model]) -> Model | None:
    row: Model | None = model._default_manager.first()
    return row


VERBS = {
    Status.QUEUED: ("terms",),
    Status.FAILED: ("replace", "correct"),
    Status.OUTCOME_UNKNOWN: ("replace", "reconcile", "evidence"),
    Status.COMPLETED: ("correct", "terms", "replace", "reconcile"),
}
"""Which screens are looked at in which status: where they act, and where they say why they do not."""


def jobs() -> dict[str, str]:
    """Return the page, and the page of cancelling, of one export in each status there is."""
    found: dict[str, str] = {}
    for status in Status:
        job = ExportJob.objects.filter(status=status).first()
        if job is not None:
            verbs = VERBS.get(status, ())
            base = f"/admin/exports/exportjob/{job.id}/"
            found |= {f"job-{status}": f"{base}change/", f"cancel-{status}": f"{base}cancel/"}
            found |= {f"{verb}-{status}": f"{base}{verb}/" for verb in verbs}
    return found


def alone() -> dict[str, str]:
    """Return the pages that are about no single table, and what is shown where nothing is."""
    return {
        "overview": "/admin/",
        "worklist": "/admin/worklist/",
        "freeze": "/admin/exports/hold/freeze/",
        "password": "/admin/password_change/",
        "nothing": "/admin/exports/exportjob/nothing/change/",
        "search": "/admin/exports/exportjob/?q=nothing",
    }


@pytest.mark.parametrize("pages", [alone, lists, records, jobs])
def test_every_page_is_accessible_in_light_and_dark_and_loads_nothing_it_may_not(
    root: Visitor, destination: Destination, tenant: Tenant, pages: Callable[[], dict[str, str]]
) -> None:
    everything(destination)
    lives.delivering(lives.a_place(tenant=tenant))
    a_contract(destination), a_caller(tenant)
    Hold.objects.create(destination=destination, tenant=tenant, cause="Paused", reason="moves", created_by="user:ann")
    assert ExportAttemptEvent.objects.exists()
    assert OutboxMessage.objects.exists()

    for name, path in pages().items():
        root.open(path)
        root.inspect(f"page-{name}")

    assert root.inaccessible == []
    assert root.refused == []


def test_a_rule_that_is_broken_and_a_script_that_is_refused_are_seen(root: Visitor) -> None:
    page = root.open("/admin/exports/exportjob/")
    page.locator("main").evaluate("each => each.insertAdjacentHTML('beforeend', '<input><img src=\"/x.png\">')")
    page.evaluate("document.body.append(Object.assign(document.createElement('script'), { text: '1' }))")
    page.evaluate("document.body.append(Object.assign(new Image(), { src: 'https://elsewhere.example/x.png' }))")

    found = root.axe()

    assert {each.split(": ")[1] for each in found} >= {"label", "image-alt"}
    assert any("script-src" in each for each in root.refused)
    assert any("img-src" in each for each in root.refused)
    root.refused.clear()
