"""Clicks on cancel and deliveries have lists of their own: paged by position, within reach, at a constant cost."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest
from django.db import connections
from django.test.utils import CaptureQueriesContext

from exports.models import ExportJob
from tests.console.pages import signed_in, text_of
from tests.lives import cancel, running
from tests.people import a_destination, a_person, a_tenant, an_export

if TYPE_CHECKING:
    from exports.models import Destination, Tenant
    from tests.routing import RoleClient

pytestmark = pytest.mark.django_db(transaction=True, databases=["default", "api", "worker"])

CLICKS, DELIVERIES = "/admin/exports/cancellationrequest/", "/admin/exports/delivery/"


def listed(browser: RoleClient, path: str) -> list[str]:
    answer = browser.get(path)
    assert answer.status_code == 200
    return re.findall(r"exportjob/([0-9a-f-]{36})/change/", answer.content.decode())


def test_clicks_are_listed_newest_first_with_who_why_and_what_came_of_them(
    viewer: RoleClient, destination: Destination
) -> None:
    first, second = an_export(destination), running(destination).job
    cancel(first, "user:ann", "wrong list")
    cancel(second, "user:bob", None)

    assert listed(viewer, CLICKS) == [str(second.id), str(first.id)]
    page = text_of(viewer.get(CLICKS))
    assert "Asked to stop; it stops unless delivery is authorized first user:bob —" in page
    assert "Cancelled before it had started; nothing was sent user:ann wrong list" in page


def test_deliveries_are_listed_with_their_key_and_original(viewer: RoleClient, destination: Destination) -> None:
    job = an_export(destination)

    assert listed(viewer, DELIVERIES) == [str(job.id)]
    assert job.delivery_key in text_of(viewer.get(DELIVERIES))


@pytest.mark.parametrize("path", [CLICKS, DELIVERIES])
def test_pages_lead_to_everything_once_and_back(
    path: str, viewer: RoleClient, destination: Destination, monkeypatch: Any
) -> None:
    monkeypatch.setattr("exports.admin.own_lists.SIZE", 2)
    made = {str(an_export(destination).id) for _ in range(5)}
    for job_id in made:
        cancel(an_export(destination, job_id=None) if path == DELIVERIES else ExportJob.objects.get(id=job_id))

    seen: list[str] = []
    visited, onward = [path], True
    while onward:
        seen += listed(viewer, visited[-1])
        page = viewer.get(visited[-1]).content.decode()
        onward = bool(found := re.search(r'rel="next" href="([^"]+)"', page))
        if found:
            visited.append(path + found.group(1))

    assert len(seen) == len(set(seen))
    assert made <= set(seen)
    back = re.search(r'rel="prev" href="([^"]+)"', viewer.get(visited[-1]).content.decode())
    assert back is not None
    assert listed(viewer, path + back.group(1)) == listed(viewer, visited[-2])


@pytest.mark.parametrize("path", [CLICKS, DELIVERIES])
def test_another_tenants_are_not_listed_and_nobody_without_the_right_sees_any(
    path: str, viewer: RoleClient, tenant: Tenant
) -> None:
    foreign = an_export(a_destination(a_tenant()))
    cancel(foreign)

    assert listed(viewer, path) == []
    assert "There is nothing here yet." in text_of(viewer.get(path))
    assert listed(signed_in(a_person(is_superuser=True)), path) == [str(foreign.id)]
    assert signed_in(a_person(tenant)).get(path).status_code == 403


def test_a_position_that_is_none_leads_to_the_first_page(viewer: RoleClient) -> None:
    answer = viewer.get(f"{CLICKS}?at=nonsense")
    assert (answer.status_code, answer.headers["Location"]) == (302, CLICKS)


@pytest.mark.parametrize("path", [CLICKS, DELIVERIES])
def test_it_asks_no_more_for_more_rows(path: str, viewer: RoleClient, destination: Destination) -> None:
    counts = []
    viewer.get(path)
    for more in (1, 15):
        for _ in range(more):
            cancel(an_export(destination))
        with CaptureQueriesContext(connections["api"]) as asked:
            viewer.get(path)
        counts.append(len(asked))

    assert counts[0] == counts[1]
