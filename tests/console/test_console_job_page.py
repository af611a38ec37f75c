"""The page of one export: what is known, what can be done, and its whole life in order."""

from __future__ import annotations

import re
import uuid
from html import unescape
from typing import TYPE_CHECKING

import pytest
from django.contrib.admin.sites import site
from django.core.exceptions import PermissionDenied
from django.db import connections
from django.http import Http404, HttpRequest, HttpResponse
from django.test import RequestFactory
from django.test.utils import CaptureQueriesContext

from exports import evidence as seen
from exports.admin.jobs import ExportJobAdmin
from exports.admin.verbs import Verb
from exports.models import ExportJob, Hold, OutboxMessage
from exports.states import FailureReason, Status
from tests.lives import CONTENT, SHA256, cancel, delivered, delivering, rejected, running, unknown
from tests.people import a_destination, a_person, a_tenant, an_export

if TYPE_CHECKING:
    from exports.models import Destination, Tenant
    from tests.routing import RoleClient

pytestmark = pytest.mark.django_db(transaction=True, databases=["default", "api", "worker"])


def html_of(browser: RoleClient, job: ExportJob) -> str:
    answer = browser.get(f"/admin/exports/exportjob/{job.id}/change/")
    assert answer.status_code == 200
    return answer.content.decode()


def text_of(browser: RoleClient, job: ExportJob) -> str:
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", html_of(browser, job))).split())


def titles(browser: RoleClient, job: ExportJob) -> list[str]:
    return [unescape(title) for title in re.findall(r'<p class="title">(.*?)</p>', html_of(browser, job))]


def test_a_delivery_is_told_from_its_creation_to_its_proof(viewer: RoleClient, destination: Destination) -> None:
    life = delivered(destination)
    life.cancel()

    assert titles(viewer, life.job) == [
        "Created",
        "Wake-up written",
        "Claimed by a worker; the file is being prepared",
        "Delivery authorized; it can no longer be stopped",
        "Before the upload, the final name showed: no such file.",
        f"About to ask for the final name {life.name} by a link.",
        "The request for the final name: the server did it.",
        f"Afterwards, the final name showed: a file of {len(CONTENT)} bytes with SHA-256 {SHA256.hexdigest()}.",
        "Concluded: delivered, since the file at the partner has the same hash.",
        "The attempt ended its delivery",
        "Cancel clicked: too late; delivery had been authorized",
    ]


def test_the_expected_file_is_shown_byte_for_byte(viewer: RoleClient, destination: Destination) -> None:
    life = delivered(destination)

    told = text_of(viewer, life.job)

    assert "Delivered: the file at the partner has the same hash. (Not: processed by the partner.)" in told
    assert f"Final name {life.name}" in told
    assert f"File SHA-256 {SHA256.hexdigest()}" in told
    assert "Contacts in the file 1 " in told


def test_a_cancelled_export_names_who_and_why(viewer: RoleClient, destination: Destination) -> None:
    job = an_export(destination)
    cancel(job, "user:ann", "wrong list")
    cancel(job, "user:bob", None)

    told = text_of(viewer, job)

    assert "Cancelled before it started. Nothing was sent." in told
    assert "Cancel clicked: cancelled before it had started; nothing was sent Reason: wrong list by user:ann" in told
    assert "Cancel clicked: it had already been cancelled No reason given. by user:bob" in told


def test_a_stop_request_names_who_asked_first(viewer: RoleClient, destination: Destination) -> None:
    life = running(destination)
    life.cancel("user:ann")
    life.cancel("user:bob")

    told = text_of(viewer, life.job)

    assert re.search(r"Asked to stop .* by user:ann\. It stops unless delivery is authorized first\.", told)
    assert titles(viewer, life.job)[-1] == "Cancel clicked: somebody had already asked it to stop"


def test_an_edit_of_the_terms_is_told_with_its_wake_up(
    viewer: RoleClient, destination: Destination, tenant: Tenant
) -> None:
    job, elsewhere = an_export(destination), a_destination(tenant)
    ExportJob.objects.db_manager("api").change_terms(
        tenant_id=tenant.id,
        job_id=job.id,
        destination_id=elsewhere.id,
        expected_version=1,
        changed_by="user:ann",
        reason="another partner",
    )

    told = text_of(viewer, job)

    assert f"Created To {destination.name}. by client:crm" in told
    assert f"Moved from {destination.name} to {elsewhere.name}: version 2 another partner by user:ann" in told
    assert titles(viewer, job).count("Wake-up written") == 2


def test_a_refusal_by_policy_is_told_with_its_reasons(viewer: RoleClient, destination: Destination) -> None:
    job = rejected(destination, "The destination is disabled.", "The tenant is not active.")

    told = text_of(viewer, job)

    assert "Refused by policy: The destination is disabled. The tenant is not active. Nothing was sent." in told
    assert titles(viewer, job)[-1] == "Refused by policy in version 1"


def test_an_unknown_outcome_says_what_was_seen_last_and_that_it_waits_for_a_person(
    viewer: RoleClient, destination: Destination
) -> None:
    told = text_of(viewer, unknown(destination).job)

    assert "Not known whether it was delivered. Last seen: The request for the final name: no answer came" in told
    assert "Did it leave? Not known." in told
    assert "Nothing. It waits for a person." in told


def test_whether_it_can_be_stopped_and_whether_it_left_follow_the_state(
    viewer: RoleClient, destination: Destination
) -> None:
    expected = {
        an_export(destination): ("Yes. It has not started", "No. Delivery has not been authorized"),
        running(destination).job: ("Perhaps. It has started", "No. Delivery has not been authorized"),
        delivering(destination).job: ("No. Delivery has been authorized", "It may be leaving right now."),
        delivered(destination).job: ("No. Delivery has been authorized", "Yes."),
        running(destination).fail(FailureReason.BUILD_FAILED).job: ("It has ended.", "No. Delivery has not been"),
        delivering(destination).finish(Status.FAILED, FailureReason.NOT_DELIVERED).job: (
            "It has ended.",
            "Nothing of it stands under the final name.",
        ),
    }

    for job, (stoppable, left) in expected.items():
        told = text_of(viewer, job)
        assert f"Can it still be stopped? {stoppable}" in told
        assert f"Did it leave? {left}" in told


def test_a_held_export_says_that_nothing_happens_until_the_hold_ends(
    viewer: RoleClient, destination: Destination
) -> None:
    job = an_export(destination)
    Hold.objects.create(destination=destination, reason="The partner moves.", created_by="user:ann")

    told = text_of(viewer, job)

    assert "Waiting, held: The partner moves (since" in told
    assert "Nothing until the hold ends." in told


def test_a_wake_up_says_whether_the_broker_has_it(viewer: RoleClient, destination: Destination) -> None:
    job = an_export(destination)
    before = text_of(viewer, job)
    OutboxMessage.objects.db_manager("default").mark_published(
        message_ids=list(OutboxMessage.objects.values_list("message_id", flat=True))
    )

    assert "Not yet handed to the broker." in before
    assert "Handed to the broker after" in text_of(viewer, job)


def test_evidence_of_an_unknown_form_is_said_to_be_unreadable_and_shown_raw(
    viewer: RoleClient, destination: Destination
) -> None:
    life = delivering(destination)
    life.append('{"v": 99, "kind": "hologram", "angle": 7}')

    assert titles(viewer, life.job)[-1].startswith("Evidence in a form this version cannot read: ")
    assert '"kind": "hologram"' in text_of(viewer, life.job)


def test_what_strangers_wrote_is_shown_as_text_with_its_tricks_visible(
    viewer: RoleClient, destination: Destination
) -> None:
    life = delivering(destination)
    life.append("<script>alert(1)</script>\x1b[31m\u202egnp.exe")
    life.show(seen.PublishAnswered(seen.Refused(4, "<img src=x onerror=alert(1)>\u202e")))
    life.cancel(reason="<script>alert(2)</script>")

    page = html_of(viewer, life.job)

    assert "<script>alert" not in page
    assert "<img src=x" not in page
    assert "\x1b" not in page
    assert "\u202e" not in page


def test_a_long_life_asks_the_database_no_more_questions_than_a_short_one(
    viewer: RoleClient, destination: Destination
) -> None:
    life = delivering(destination)
    counts = []
    html_of(viewer, life.job)
    for more in (1, 30):
        for _ in range(more):
            life.show(seen.ReadBack(seen.Absent()))
            life.cancel()
        with CaptureQueriesContext(connections["api"]) as asked:
            html_of(viewer, life.job)
        counts.append(len(asked))

    assert counts[0] == counts[1]


def greet(_request: HttpRequest, job: ExportJob) -> HttpResponse:
    return HttpResponse(f"hello {job.id}")


GREET = Verb("greet", "Greet", "cancel_exportjob", greet, lambda job: job.status == Status.QUEUED)


def request_of(group: str, tenant: Tenant) -> HttpRequest:
    request = RequestFactory().get("/")
    request.user = a_person(tenant, group=group)
    return request


def test_a_verbs_screen_opens_for_whoever_may_see_the_export_and_use_the_verb(
    destination: Destination, tenant: Tenant
) -> None:
    job, admin = an_export(destination), ExportJobAdmin(ExportJob, site)

    answer = admin.verb_view(request_of("Export operators", tenant), str(job.id), verb=GREET)

    assert isinstance(answer, HttpResponse)
    assert answer.content.decode() == f"hello {job.id}"


def test_a_verbs_screen_is_closed_without_its_permission_and_missing_for_another_tenant(
    destination: Destination, tenant: Tenant
) -> None:
    job, admin = an_export(destination), ExportJobAdmin(ExportJob, site)

    with pytest.raises(PermissionDenied):
        admin.verb_view(request_of("Export viewers", tenant), str(job.id), verb=GREET)
    for job_id in (job.id, uuid.uuid4(), "x"):
        with pytest.raises(Http404):
            admin.verb_view(request_of("Export operators", a_tenant()), str(job_id), verb=GREET)
