"""The page on which a named person sends an export again, and what they are told when it cannot be (I8)."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest
from django.utils import timezone

from exports.models import ExportJob, OverwriteAgreement
from exports.states import FailureReason, Status
from tests.console.pages import confirm, fields_of, fill, offered, one_of, text_of
from tests.lives import delivered, running, unknown
from tests.people import a_tenant
from tests.recovery.sessions import session

if TYPE_CHECKING:
    from exports.models import Destination, Tenant
    from tests.routing import RoleClient

pytestmark = pytest.mark.django_db(transaction=True, databases=["default", "api", "worker"])

NOTHING_AGAINST = {
    "reason": "the partner lost it",
    "may_still_upload": "no",
    "may_still_upload_source": "its access was revoked, ticket 7",
    "was_tried": "yes",
    "was_tried_source": "ticket 8",
    "deduplicates": "yes",
    "deduplicates_source": "contract, section 4",
}
NEVERTHELESS = {**NOTHING_AGAINST, "why_nevertheless": "nobody can settle it any more"}


@pytest.fixture
def approver(tenant: Tenant) -> RoleClient:
    return one_of("Export replacement approvers", tenant, username="ruth")


@pytest.fixture
def failed(destination: Destination) -> ExportJob:
    return running(destination).fail(FailureReason.BUILD_FAILED).job


def page_of(job: ExportJob) -> str:
    return f"/admin/exports/exportjob/{job.id}/replace/"


def replacements_of(job: ExportJob) -> list[ExportJob]:
    return list(ExportJob.objects.filter(replaces_job_id=job.id).order_by("created_at"))


def test_a_named_person_sends_again_with_every_answer_and_source_kept(approver: RoleClient, failed: ExportJob) -> None:
    answer = confirm(approver, page_of(failed), **NOTHING_AGAINST)

    (made,) = replacements_of(failed)
    assert answer["Location"] == f"/admin/exports/exportjob/{made.id}/change/"
    assert "This is the replacement." in text_of(approver.get(answer["Location"]))
    assert (made.created_by, made.delivery_key, made.status) == ("user:ruth", failed.delivery_key, Status.QUEUED)
    assert made.overwrite_agreement_ref is None
    assert made.replacement_reason == (
        "the partner lost it\n"
        "the original may still upload: no (its access was revoked, ticket 7)\n"
        "reconciliation was tried: yes (ticket 8)\n"
        "the partner deduplicates on the key: yes (contract, section 4)"
    )


def test_what_it_will_do_is_said_before_it_counts(approver: RoleClient, failed: ExportJob) -> None:
    checked = text_of(fill(approver, page_of(failed), **NOTHING_AGAINST))

    assert f"with the delivery key {failed.delivery_key} of its original" in checked
    assert "It never overwrites: a file that stands under the final name stops it" in checked
    assert "If it is found to have been delivered before the replacement's own delivery is authorized" in checked
    assert replacements_of(failed) == []


@pytest.mark.parametrize("missing", NOTHING_AGAINST)
def test_every_question_and_every_source_is_required(approver: RoleClient, failed: ExportJob, missing: str) -> None:
    answer = fill(approver, page_of(failed), **{**NOTHING_AGAINST, missing: ""})

    assert answer.status_code == 400
    anchor = f"id_{missing}_0" if missing in {"may_still_upload", "was_tried", "deduplicates"} else f"id_{missing}"
    page = answer.content.decode()
    assert f'href="#{anchor}"' in page
    assert f'id="{anchor}"' in page


@pytest.mark.parametrize(
    ("question", "against", "words"),
    [
        ("may_still_upload", "yes", "The original may still upload."),
        ("was_tried", "no", "Reconciliation was not tried."),
        ("deduplicates", "no", "The partner does not recognise a repeated delivery by its key."),
    ],
)
def test_an_answer_that_speaks_against_it_has_to_be_answered(
    approver: RoleClient, failed: ExportJob, question: str, against: str, words: str
) -> None:
    answer = fill(approver, page_of(failed), **{**NOTHING_AGAINST, question: against})

    assert answer.status_code == 400
    assert f"{words} Say why it is sent again nevertheless." in text_of(answer)
    assert 'href="#id_why_nevertheless"' in answer.content.decode()
    confirm(approver, page_of(failed), **{**NEVERTHELESS, question: against})
    (made,) = replacements_of(failed)
    assert "nevertheless, because: nobody can settle it any more" in str(made.replacement_reason)


def test_an_original_that_nobody_settled_has_to_be_answered_too(approver: RoleClient, destination: Destination) -> None:
    job = unknown(destination).job

    answer = fill(approver, page_of(job), **NOTHING_AGAINST)

    assert "No reconciliation of the original is on record." in text_of(answer)
    assert confirm(approver, page_of(job), **NEVERTHELESS).status_code == 302


def test_a_replacement_that_is_live_is_named(approver: RoleClient, failed: ExportJob, tenant: Tenant) -> None:
    confirm(approver, page_of(failed), **NOTHING_AGAINST)
    (live,) = replacements_of(failed)
    other = one_of("Export replacement approvers", tenant)
    checked = fill(other, page_of(failed), **NOTHING_AGAINST)

    answer = other.post(page_of(failed), {**fields_of(checked), "confirmed": "yes"})

    assert answer.status_code == 409
    told = text_of(answer)
    assert "There is a replacement already" in told
    assert str(live.id) in told
    assert "Nothing was sent and no replacement was created." in told
    assert f"/admin/exports/exportjob/{live.id}/cancel/" not in answer.content.decode()
    assert replacements_of(failed) == [live]


def test_a_double_click_and_the_back_button_make_one_replacement(approver: RoleClient, failed: ExportJob) -> None:
    checked = fill(approver, page_of(failed), **NOTHING_AGAINST)
    sent = {**fields_of(checked), "confirmed": "yes"}

    answers = [approver.post(page_of(failed), sent) for _ in range(2)]

    (made,) = replacements_of(failed)
    assert {answer["Location"] for answer in answers} == {f"/admin/exports/exportjob/{made.id}/change/"}
    back = approver.get(page_of(failed))
    assert "You have made this request before." in text_of(back)
    assert fields_of(back)["request_id"] == sent["request_id"] == str(made.id)


def test_an_original_that_may_not_be_replaced_says_how_it_stands(
    approver: RoleClient, destination: Destination, failed: ExportJob
) -> None:
    told = text_of(approver.get(page_of(delivered(destination).job)))
    assert "The original may not be sent again as it stands." in told
    assert "The original stands as: Delivered" in told

    ended = delivered(destination).job
    form = {**NOTHING_AGAINST, "request_id": fields_of(approver.get(page_of(failed)))["request_id"]}
    answer = approver.post(page_of(ended), {**form, "confirmed": "yes"})
    assert answer.status_code == 409
    assert replacements_of(ended) == []


def test_a_replacement_that_failed_leads_to_its_original(approver: RoleClient, failed: ExportJob) -> None:
    confirm(approver, page_of(failed), **NOTHING_AGAINST)
    (first,) = replacements_of(failed)
    ExportJob.objects.db_manager("worker").reject(job_id=first.id, checked_version=1, reasons=("no",))

    page = approver.get(f"{page_of(first)}?click=2")
    assert f"What is sent again is its original, {failed.id}" in text_of(page)
    sent = {**fields_of(page), **NOTHING_AGAINST, "confirmed": "yes"}
    assert approver.post(page_of(first), sent).status_code == 302
    assert len(replacements_of(failed)) == 2


def test_an_agreement_to_overwrite_is_recorded_and_then_named(
    approver: RoleClient, failed: ExportJob, tenant: Tenant
) -> None:
    filled = {
        "ref": "letter 12",
        "agreed_by": "Pia, head of imports",
        "agreed_at": "2030-01-31T10:00" if timezone.now().year > 2030 else "2020-01-31T10:00",
        "under_contract": "framework 3, section 9",
    }
    back = confirm(approver, f"{page_of(failed)}agreement/", **filled)

    agreement = OverwriteAgreement.objects.get(ref="letter 12")
    assert (agreement.tenant_id, agreement.destination_id) == (tenant.id, failed.destination_id)
    assert (agreement.agreed_by, agreement.recorded_by) == ("Pia, head of imports", "user:ruth")
    opened = approver.get(back["Location"])
    assert fields_of(opened)["agreement"] == "letter 12"
    checked = approver.post(page_of(failed), {**fields_of(opened), **NOTHING_AGAINST})
    assert "It may replace a file that stands under the final name, by the agreement letter 12." in text_of(checked)
    approver.post(page_of(failed), {**fields_of(checked), "confirmed": "yes"})
    (made,) = replacements_of(failed)
    assert made.overwrite_agreement_ref == "letter 12"


def an_agreement(job: ExportJob, ref: str, **changes: Any) -> OverwriteAgreement:
    values = {"tenant_id": job.tenant_id, "destination_id": job.destination_id, **changes}
    return OverwriteAgreement.objects.create(
        ref=ref, agreed_by="Pia", agreed_at=timezone.now(), under_contract="3", recorded_by="user:ann", **values
    )


def test_only_agreements_about_this_destination_can_be_named(
    approver: RoleClient, failed: ExportJob, destination: Destination
) -> None:
    an_agreement(failed, "ours")
    foreign = a_tenant()
    an_agreement(failed, "theirs", tenant_id=foreign.id)
    page = approver.get(page_of(failed))

    assert offered(page, "agreement") == ["", "ours"]
    sent = {**fields_of(page), **NOTHING_AGAINST, "agreement": "theirs", "confirmed": "yes"}
    answer = approver.post(page_of(failed), sent)
    assert answer.status_code == 400
    assert "That agreement is not on record for this destination." in text_of(answer)
    assert replacements_of(failed) == []
    assert destination.id == failed.destination_id


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"ref": "taken"}, "This reference is that of another agreement."),
        ({"agreed_at": "tomorrow"}, "Enter a valid date/time."),
        ({"agreed_at": f"{timezone.now() + timedelta(days=2):%Y-%m-%dT%H:%M}"}, "This time is yet to come."),
        ({"agreed_by": ""}, "“Who at the partner agreed” is missing."),
    ],
)
def test_an_agreement_that_is_wrong_is_not_recorded(
    approver: RoleClient, failed: ExportJob, changed: dict[str, str], words: str
) -> None:
    an_agreement(failed, "taken")
    filled = {"ref": "new", "agreed_by": "Pia", "agreed_at": "2020-01-31T10:00", "under_contract": "3"}

    answer = approver.post(f"{page_of(failed)}agreement/", {**filled, **changed, "confirmed": "yes"})

    assert answer.status_code == 400
    assert words in text_of(answer)
    assert OverwriteAgreement.objects.count() == 1


def test_an_agreement_sent_twice_is_one(approver: RoleClient, failed: ExportJob) -> None:
    filled = {"ref": "new", "agreed_by": "Pia", "agreed_at": "2020-01-31T10:00", "under_contract": "3"}

    answers = [approver.post(f"{page_of(failed)}agreement/", {**filled, "confirmed": "yes"}) for _ in range(2)]

    assert [answer.status_code for answer in answers] == [302, 302]
    assert OverwriteAgreement.objects.count() == 1


def test_a_wish_that_gets_no_answer_offers_itself_again(
    approver: RoleClient, failed: ExportJob, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("exports.actions.create_replacement.GIVE_UP_SECONDS", 0.0)
    checked = fill(approver, page_of(failed), **NOTHING_AGAINST)
    sent = {**fields_of(checked), "confirmed": "yes"}
    with session("default") as holder:
        holder.execute("BEGIN")
        holder.execute("SELECT FROM export_jobs WHERE id = %s FOR UPDATE", [failed.id])
        busy = approver.post(page_of(failed), sent)
        holder.execute("ROLLBACK")

    assert busy.status_code == 503
    assert "We could not tell whether the replacement was created." in text_of(busy)
    assert fields_of(busy) == fields_of(checked)
    assert approver.post(page_of(failed), {**fields_of(busy), "confirmed": "yes"}).status_code == 302
    assert len(replacements_of(failed)) == 1


def test_an_id_of_something_else_does_nothing_and_says_so(
    approver: RoleClient, failed: ExportJob, destination: Destination
) -> None:
    taken = delivered(destination).job

    answer = approver.post(page_of(failed), {**NOTHING_AGAINST, "request_id": str(taken.id), "confirmed": "yes"})

    assert answer.status_code == 409
    assert "This request id belongs to something else." in text_of(answer)
    assert replacements_of(failed) == []


@pytest.mark.parametrize("group", ["Export viewers", "Export operators", "Reconciliation staff"])
def test_nobody_else_sends_again_or_records_an_agreement(tenant: Tenant, failed: ExportJob, group: str) -> None:
    browser = one_of(group, tenant)
    for page in (page_of(failed), f"{page_of(failed)}agreement/"):
        assert browser.get(page).status_code == 403
        assert browser.post(page, {**NEVERTHELESS, "confirmed": "yes"}).status_code == 403
    foreign = one_of("Export replacement approvers", a_tenant())
    assert foreign.post(page_of(failed), {**NEVERTHELESS, "confirmed": "yes"}).status_code == 404
    assert replacements_of(failed) == []
