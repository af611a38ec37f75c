"""Every page of the verbs in a real browser: they do what they say, in light, dark, narrow, and by the policy."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from exports import evidence as seen
from exports.models import ExportJob, Hold
from exports.states import FailureReason, Status
from tests.lives import cancel, delivered, rejected, running, unknown
from tests.people import a_destination, a_person, an_export
from tests.recovery import lives
from tests.settling import settled

if TYPE_CHECKING:
    from collections.abc import Callable

    from exports.models import Destination, Tenant
    from tests.browser.visiting import Visitor

pytestmark = pytest.mark.django_db(transaction=True, databases=lives.ALIASES)

LIST = "/admin/exports/exportjob/"


def page_of(job: ExportJob, verb: str = "change") -> str:
    return f"{LIST}{job.id}/{verb}/"


def test_a_queued_export_is_sent_elsewhere_and_the_loser_of_the_race_is_told(
    operator: Visitor, visit: Callable[..., Visitor], destination: Destination, tenant: Tenant
) -> None:
    a_destination(tenant, name="elsewhere")
    job = an_export(destination)
    other = visit(a_person(tenant, group="Export operators", username="otto"))
    for person in (operator, other):
        page = person.open(page_of(job, "terms"))
        page.get_by_label("Send it to").select_option(label="elsewhere")
        page.get_by_label("Why").fill(f"as {person.page.url[:4]} asked")
    operator.shoot("terms")

    for person in (operator, other):
        person.page.get_by_role("button", name="Go on to check it").click()
    operator.shoot("terms-check")
    operator.page.get_by_role("button", name="Send it there").click()
    operator.page.wait_for_url("**/change/")
    assert "It goes to the other destination, as version 2." in operator.text()
    operator.shoot("terms-done")

    other.page.get_by_role("button", name="Send it there").click()

    other.page.get_by_role("alert").wait_for()
    assert "Not changed. user:olga sent it to elsewhere" in other.text()
    other.shoot("terms-lost")


def test_an_approver_sends_again_after_answering_what_speaks_against_it(
    visit: Callable[..., Visitor], destination: Destination, tenant: Tenant
) -> None:
    job = unknown(destination).job
    ruth = visit(a_person(tenant, group="Export replacement approvers", username="ruth"))
    page = ruth.open(page_of(job, "replace"))
    ruth.shoot("replace")
    page.get_by_label("Why is it sent again?").fill("The partner lost it.")
    page.get_by_role("group", name="Can the original still write or upload?").get_by_label("No").check()
    page.get_by_role("group", name="Was reconciliation tried?").get_by_label("Yes").check()
    page.get_by_role("group", name="Does the partner recognise").get_by_label("Yes").check()
    for source in page.get_by_label("How do you know?").all():
        source.fill("ticket 7")
    page.get_by_role("button", name="Go on to check it").click()

    page.get_by_role("alert").wait_for()
    ruth.shoot("replace-wrong")
    page.get_by_role("link", name="No reconciliation of the original is on record.").click()
    page.keyboard.type("Nobody can settle it any more.")
    page.get_by_role("button", name="Go on to check it").click()
    ruth.shoot("replace-check")
    page.get_by_role("button", name="Create the replacement").click()

    page.get_by_text("This is the replacement.").wait_for()
    assert ExportJob.objects.filter(replaces_job_id=job.id, created_by="user:ruth").count() == 1
    ruth.shoot("replace-done")


def test_an_unknown_outcome_is_settled_with_the_evidence_side_by_side(
    visit: Callable[..., Visitor], tenant: Tenant
) -> None:
    place = lives.a_place(tenant=tenant)
    job = lives.delivering(place)
    lives.append(
        job,
        seen.Baseline(seen.Absent()),
        seen.PublishSent(seen.PublishForm.LINK, ".part", place.final_name(job)),
        seen.PublishAnswered(seen.NoReply(seen.Trouble.TIMEOUT)),
        seen.ReadBack(seen.Present(len(lives.CONTENT), lives.SHA256.hex())),
        seen.ProbeSighting(seen.Absent(), "recovery"),
    )
    lives.finish(job, Status.OUTCOME_UNKNOWN)
    settled.replacement(lives.now(job.id))
    rita = visit(a_person(tenant, group="Reconciliation staff", username="rita"))
    page = rita.open(page_of(job))
    rita.shoot("job-unknown")
    page.get_by_role("link", name="Add evidence…").click()
    page.get_by_role("link", name="What the partner said").click()
    rita.shoot("evidence")
    page.get_by_label("The file is there", exact=True).check()
    page.get_by_label("Reference").fill("mail of 3 May")
    page.get_by_label("When was it learned?").fill("2020-05-03T10:00")
    page.get_by_role("button", name="Go on to check it").click()
    page.get_by_role("button", name="Add it").click()

    page.wait_for_url("**/reconcile/")
    rita.shoot("reconcile")
    page.get_by_label("It was delivered").check()
    page.get_by_label("What it rests on").fill("mail of 3 May")
    page.get_by_label("Why", exact=True).fill("The partner found it.")
    page.get_by_role("button", name="Go on to check it").click()
    rita.shoot("reconcile-check")
    page.get_by_role("button", name="Record it").click()

    page.get_by_text("Recorded: Completed.").wait_for()
    assert lives.now(job.id).status == Status.COMPLETED


def test_a_record_is_corrected_and_what_that_blocks_is_seen_before(
    visit: Callable[..., Visitor], tenant: Tenant
) -> None:
    place = lives.a_place(tenant=tenant)
    job = lives.finish(lives.delivering(place))
    rita = visit(a_person(tenant, group="Reconciliation staff", username="rita"))
    page = rita.open(page_of(job, "correct"))
    rita.shoot("correct")
    page.get_by_label("It was not delivered").check()
    page.get_by_label("What it rests on").fill("ticket 9")
    page.get_by_label("Why", exact=True).fill("The partner never had it.")
    page.get_by_role("button", name="Go on to check it").click()
    rita.shoot("correct-check")
    page.get_by_role("button", name="Correct the record").click()

    page.get_by_text("Corrected: the record says Failed now.").wait_for()
    assert lives.now(job.id).failure_reason == FailureReason.NOT_DELIVERED


def test_an_exports_page_follows_it_and_leaves_what_is_marked_alone(
    operator: Visitor, destination: Destination
) -> None:
    life = running(destination)
    operator.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page = operator.open(page_of(life.job))
    page.get_by_label(f"Copy {life.job.id}").click()
    assert page.evaluate("navigator.clipboard.readText()") == str(life.job.id)
    page.locator("dl.facts .id").first.click()  # one click marks the whole id
    marked = page.evaluate("document.getSelection().toString()")
    assert marked == life.job.delivery_key
    with page.expect_response(lambda answer: answer.request.headers.get("x-part") == "head"):
        life.cancel()
    assert page.evaluate("document.getSelection().toString()") == marked

    page.evaluate("document.getSelection().removeAllRanges()")

    page.locator(".state-strip", has_text="Asked to stop").wait_for()
    page.get_by_role("link", name="It has changed: load all of the page again").click()
    page.get_by_text("Cancel clicked: asked to stop").wait_for()
    operator.shoot("job-running")


def everything(there: Destination) -> None:
    an_export(there), running(there), delivered(there), rejected(there, "The tenant is not active.")
    unknown(there), running(there).fail(FailureReason.BUILD_FAILED)
    cancel(an_export(there), "user:ann")
    cancel(running(there).job, "user:ann")


def test_the_list_is_filtered_refreshed_and_keeps_what_is_ticked(operator: Visitor, destination: Destination) -> None:
    everything(destination)
    page = operator.open(LIST)
    operator.shoot("list")
    page.get_by_label("Status").select_option("Queued")
    page.get_by_role("button", name="Show").click()
    page.wait_for_url("**status=Queued**")
    ticked = ExportJob.objects.get(status=Status.QUEUED)
    page.get_by_label(f"Select {ticked.id}").check()

    arrived = an_export(destination)

    page.get_by_label(f"Select {arrived.id}").wait_for()
    assert page.get_by_label(f"Select {ticked.id}").is_checked()
    assert not page.get_by_label(f"Select {arrived.id}").is_checked()
    operator.shoot("list-queued")
    page.get_by_role("button", name="Pause").click()
    assert "Paused at" in operator.text()


def test_many_are_cancelled_by_the_page_itself(
    operator: Visitor, destination: Destination, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("exports.admin.bulk_run.STEP_JOBS", 3)
    for _ in range(7):
        an_export(destination)
    everything(destination)
    page = operator.open(LIST)
    page.get_by_role("button", name="Cancel all that match…").click()
    page.wait_for_url("**/cancel-many/*/")
    operator.shoot("bulk-preview")
    page.get_by_label("Why").fill("The wrong list.")
    page.get_by_role("button", name="Cancel 15 exports").click()

    page.locator("#each").wait_for()
    assert "Done: all 15 have their recorded answer." in operator.text()
    operator.shoot("bulk-done")
    with page.expect_download() as download:
        page.get_by_role("link", name="Download the table").click()
    assert download.value.suggested_filename.endswith(".csv")


def test_many_are_cancelled_without_a_script_too(
    visit: Callable[..., Visitor], destination: Destination, tenant: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("exports.admin.bulk_run.STEP_JOBS", 3)
    chosen = [an_export(destination) for _ in range(5)]
    olga = visit(a_person(tenant, group="Export operators", username="olga"), java_script_enabled=False)
    page = olga.open(LIST)
    for job in chosen:
        page.get_by_label(f"Select {job.id}").check()
    page.get_by_role("button", name="Cancel the selected…").click()
    page.get_by_label("Why").fill("The wrong list.")
    page.get_by_role("button", name="Cancel 5 exports").click()
    assert "3 of 5 done; 2 still to do." in olga.text()
    olga.shoot("bulk-step")
    page.get_by_role("button", name="Go on with the next").click()

    assert "Done: all 5 have their recorded answer." in olga.text()


def test_the_worklist_a_pause_and_the_freeze(
    visit: Callable[..., Visitor], operator: Visitor, destination: Destination, tenant: Tenant
) -> None:
    everything(destination)
    running(destination).fail(FailureReason.FINAL_NAME_OCCUPIED)
    operator.open("/admin/worklist/")
    operator.shoot("worklist")
    ada = visit(a_person(tenant, group="Export administrators", username="ada"))
    page = ada.open(f"/admin/exports/destination/{destination.id}/change/")
    page.get_by_role("link", name="Pause…").click()
    page.get_by_label("Why").fill("The partner moves.")
    ada.shoot("pause")
    page.get_by_role("button", name="Pause it").click()
    page.get_by_text("Paused: destination").wait_for()
    ada.shoot("destination-paused")
    page.get_by_role("link", name="Resume…").click()
    page.get_by_label("Why").fill("It has moved.")
    ada.shoot("resume")
    page.get_by_role("button", name="Resume").click()
    page.get_by_text("Ended: the hold on destination").wait_for()

    ada.open("/admin/exports/hold/freeze/")
    page.get_by_label("Why").fill("A wrong list went out.")
    ada.shoot("freeze")
    page.get_by_role("button", name="Freeze everything").click()
    page.wait_for_url("**/admin/exports/hold/")
    ada.shoot("holds")
    assert "Everything is frozen since" in operator.open(LIST).locator("body").inner_text()
    operator.shoot("list-frozen")
    assert Hold.objects.filter(ended_at=None).count() == 1


@pytest.mark.parametrize(
    ("name", "context"),
    [
        ("light", {"color_scheme": "light"}),
        ("dark", {"color_scheme": "dark"}),
        ("narrow", {"viewport": {"width": 320, "height": 700}}),
        ("zoomed", {"viewport": {"width": 640, "height": 450}}),
    ],
)
def test_the_pages_work_in_the_dark_narrow_and_zoomed(
    visit: Callable[..., Visitor], destination: Destination, tenant: Tenant, name: str, context: dict[str, object]
) -> None:
    everything(destination)
    job, there = an_export(destination), a_destination(tenant)
    person = visit(a_person(is_superuser=True), **context)
    lost = unknown(there).job
    pages = {
        "list": LIST,
        "job": page_of(lost),
        "cancel": page_of(job, "cancel"),
        "terms": page_of(job, "terms"),
        "replace": page_of(lost, "replace"),
        "reconcile": page_of(lost, "reconcile"),
        "evidence": f"{page_of(lost, 'evidence')}?kind=statement",
        "worklist": "/admin/worklist/",
        "freeze": "/admin/exports/hold/freeze/",
        "holds": "/admin/exports/hold/",
    }

    wrong: list[str] = []
    for label, path in pages.items():
        page = person.open(path)
        person.shoot(f"{name}-{label}")
        wide = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
        assert wide <= 0, f"{label} scrolls sideways by {wide} px"
        wrong += [f"{label}: {each}" for each in person.audit()]
    assert wrong == []
    if name == "dark":
        red, green, blue = (int(each) for each in str(person.style("body", "backgroundColor"))[4:-1].split(","))
        assert max(red, green, blue) < 64


PLANTED = {
    "no label: lonely": '<input name="lonely">',
    "no name": '<a href="/x"></a>',
    "h4 after": "<h4>deep</h4>",
    "a table without headers": "<table><tr><td>1</td></tr></table>",
    "contrast": '<p id="faint">faint</p>',
    "id faint is there twice": '<p id="faint">again</p>',
    "only": '<button id="tiny">x</button>',
    "not one h1": "<h1>second</h1>",
}


def test_the_audit_of_a_page_sees_what_is_planted(operator: Visitor) -> None:
    page = operator.open(LIST)
    page.locator("main").evaluate(
        "(each, html) => each.insertAdjacentHTML('beforeend', html)", "".join(PLANTED.values())
    )
    page.locator("#faint").first.evaluate("each => { each.style.color = '#999'; }")
    page.locator("#tiny").evaluate("each => { each.style.cssText = 'width: 8px; height: 8px; padding: 0'; }")

    found = operator.audit()

    assert [planted for planted in PLANTED if not any(each.startswith(planted) for each in found)] == []
