"""The second factor: set up at the first sign-in, asked for at each, and again before what weighs most."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from django.contrib.admin.models import LogEntry
from django.core.management import CommandError, call_command
from django_otp.plugins.otp_totp.models import TOTPDevice

from exports.admin.second_factor import GIVEN_AT
from exports.states import Status
from tests.console.pages import fields_of, text_of
from tests.factors import a_factor, code_of, code_of_letters
from tests.lives import delivered, unknown
from tests.people import PASSWORD, a_person
from tests.routing import RoleClient, role

if TYPE_CHECKING:
    from django.contrib.auth.models import User

    from exports.models import Destination, ExportJob, Tenant

pytestmark = pytest.mark.django_db(databases=["default", "api", "worker", "reconciliation"], transaction=True)

LIST = "/admin/exports/exportjob/"
PAGE = "/admin/second-factor/"


@pytest.fixture(autouse=True)
def _asked_for(settings: Any) -> None:
    settings.EXPORTS = replace(settings.EXPORTS, second_factor=True)


@pytest.fixture
def rita(tenant: Tenant) -> User:
    return a_person(tenant, group="Reconciliation staff", username="rita")


def with_password(username: str) -> RoleClient:
    browser = RoleClient()
    signed_in = browser.post("/admin/login/", {"username": username, "password": PASSWORD, "next": LIST})
    assert signed_in.status_code == 302
    return browser


def give(browser: RoleClient, code: str, path: str = PAGE, **more: str) -> Any:
    return browser.post(path, {"second_factor_code": code, **more})


def signed_in(person: User) -> tuple[RoleClient, TOTPDevice]:
    device = a_factor(person)
    browser = with_password(person.username)
    assert give(browser, code_of(device)).status_code == 302
    return browser, device


def test_a_password_alone_opens_no_page(rita: User, destination: Destination) -> None:
    a_factor(rita)
    browser = with_password("rita")
    for path in (LIST, "/admin/", "/admin/worklist/", f"{LIST}{unknown(destination).job.id}/reconcile/"):
        asked = browser.get(path, follow=True)
        assert asked.redirect_chain[-1][0].startswith(PAGE), path
        assert "Enter your code" in text_of(asked)


def test_the_code_leads_on_to_where_somebody_wanted_to_go(rita: User) -> None:
    device = a_factor(rita)
    browser = with_password("rita")
    asked = browser.get(LIST, follow=True)
    answer = give(browser, code_of(device), asked.request["PATH_INFO"] + "?" + asked.request["QUERY_STRING"])
    assert answer.headers["Location"] == LIST
    assert browser.get(LIST).status_code == 200


@pytest.mark.parametrize("onward", ["https://evil.example/", "//evil.example/", "javascript:alert(1)", ""])
def test_it_leads_to_no_other_site(rita: User, onward: str) -> None:
    device = a_factor(rita)
    answer = give(with_password("rita"), code_of(device), f"{PAGE}?next={onward}")
    assert answer.headers["Location"] == "/admin/"


def test_whoever_has_none_sets_one_up_first_and_it_is_on_record(rita: User) -> None:
    browser = with_password("rita")
    page = browser.get(PAGE)
    key = str(page.context["letters"])
    assert "<svg" in page.content.decode()
    assert "no-store" in page.headers["Cache-Control"]
    assert browser.get(PAGE).context["letters"] == page.context["letters"]

    assert give(browser, "000000").status_code == 400
    assert TOTPDevice.objects.count() == 0
    assert give(browser, code_of_letters(key)).status_code == 302

    assert browser.get(LIST).status_code == 200
    entry = LogEntry.objects.get()
    assert (entry.user, entry.object_id, entry.change_message) == (rita, str(rita.pk), "Second factor set up.")


@pytest.mark.usefixtures("rita")
def test_the_page_to_set_up_cannot_add_a_second_one() -> None:
    two = [with_password("rita"), with_password("rita")]
    codes = [code_of_letters(str(browser.get(PAGE).context["letters"])) for browser in two]
    assert give(two[0], codes[0]).status_code == 302
    assert give(two[1], codes[1]).status_code == 400
    assert TOTPDevice.objects.count() == 1


def test_a_code_is_taken_once(rita: User) -> None:
    device = a_factor(rita)
    code = code_of(device)
    assert give(with_password("rita"), code).status_code == 302
    refused = give(with_password("rita"), code)
    assert refused.status_code == 400
    assert "or it was used before" in text_of(refused)


def test_each_wrong_code_doubles_the_wait_even_for_the_right_one(rita: User) -> None:
    device = a_factor(rita)
    browser = with_password("rita")
    for _ in range(6):
        TOTPDevice.objects.update(throttling_failure_timestamp=None)
        refused = give(browser, "000000")
    assert "Too many wrong codes. Try again in 3" in text_of(refused)  # 32 s
    assert give(browser, code_of(device)).status_code == 400
    assert browser.get(LIST).status_code == 302


def test_another_persons_code_opens_nothing(rita: User, tenant: Tenant) -> None:
    a_factor(rita)
    other = a_factor(a_person(tenant, username="otto"))
    assert give(with_password("rita"), code_of(other)).status_code == 400


@pytest.mark.parametrize(
    "code", ["", "12345", "1234567", "abcdef", "\uff11\uff12\uff13\uff14\uff15\uff16\uff17", "12\x0034 56"]
)
def test_what_is_no_code_is_said_to_be_none(rita: User, code: str) -> None:
    a_factor(rita)
    assert give(with_password("rita"), code).status_code == 400


def test_whoever_is_stuck_can_sign_in_as_somebody_else(rita: User) -> None:
    a_factor(rita)
    browser = with_password("rita")
    assert browser.post(PAGE, {"sign_out": "yes"}).headers["Location"] == "/admin/login/"
    assert "_auth_user_id" not in browser.session


def test_the_page_is_nobodys_without_a_password(browser: RoleClient) -> None:
    assert browser.get(PAGE).headers["Location"] == "/admin/login/"
    assert give(browser, "123456").headers["Location"] == "/admin/login/"


def long_ago(browser: RoleClient, seconds: int) -> None:
    session = browser.session
    session[GIVEN_AT] = int(time.time()) - seconds
    session.save()


VERBS = {"reconcile": lambda there: unknown(there).job, "correct": lambda there: delivered(there).job}


@pytest.mark.parametrize("verb", VERBS)
def test_reconcile_and_correct_ask_again_after_five_minutes(rita: User, destination: Destination, verb: str) -> None:
    browser, device = signed_in(rita)
    page = f"{LIST}{VERBS[verb](destination).id}/{verb}/"
    assert "Is it still you?" not in text_of(browser.get(page))
    long_ago(browser, 310)

    asked = browser.get(page)
    assert "Is it still you?" in text_of(asked)
    assert give(browser, "000000", page).status_code == 400
    TOTPDevice.objects.update(throttling_failure_timestamp=None)
    answer = give(browser, code_of(device, ahead=1), page)

    assert (answer.status_code, answer.headers["Location"]) == (302, page)
    assert "Is it still you?" not in text_of(browser.get(page))


def reconciled(browser: RoleClient, job: ExportJob) -> dict[str, str]:
    filled = {"resolution": "Failed", "evidence_ref": "ticket 7", "reason": "Never came.", "why_against": "No proof."}
    return {**fields_of(browser.get(f"{LIST}{job.id}/reconcile/")), **filled, "confirmed": "yes"}


def test_an_act_that_comes_too_late_does_nothing_and_goes_on_with_the_code_as_it_was(
    rita: User, destination: Destination
) -> None:
    browser, device = signed_in(rita)
    job = unknown(destination).job
    page, act = f"{LIST}{job.id}/reconcile/", reconciled(browser, job)
    long_ago(browser, 310)

    asked = browser.post(page, act)
    assert "What you have filled in is kept." in text_of(asked)
    job.refresh_from_db()
    assert job.status == Status.OUTCOME_UNKNOWN
    carried = {name: value for name, value in fields_of(asked).items() if name != "second_factor_code"}
    assert {name: carried[name] for name in act if name != "csrfmiddlewaretoken"} == {
        name: value for name, value in act.items() if name != "csrfmiddlewaretoken"
    }

    assert give(browser, code_of(device, ahead=1), page, **carried).status_code == 302
    job.refresh_from_db()
    assert job.status == Status.FAILED


def test_other_verbs_ask_only_at_sign_in(rita: User, destination: Destination) -> None:
    browser, _ = signed_in(rita)
    long_ago(browser, 310)
    page = browser.get(f"{LIST}{unknown(destination).job.id}/evidence/")
    assert page.status_code == 200
    assert "Is it still you?" not in text_of(page)


@pytest.mark.usefixtures("rita")
def test_where_it_is_off_nobody_is_asked(settings: Any, destination: Destination) -> None:
    settings.EXPORTS = replace(settings.EXPORTS, second_factor=False)
    browser = with_password("rita")
    assert browser.get(LIST).status_code == 200
    page = browser.get(f"{LIST}{unknown(destination).job.id}/reconcile/")
    assert "Is it still you?" not in text_of(page)


def take_away(username: str, by: str = "ada") -> None:
    with role("api"):
        call_command("reset_second_factor", username, "--by", by, "--reason", "phone lost, ticket 12")


def test_an_administrator_takes_a_lost_factor_away_on_record_and_its_sessions_end(rita: User, tenant: Tenant) -> None:
    ada = a_person(tenant, group="Export administrators", username="ada")
    browser, _ = signed_in(rita)

    take_away("rita")

    assert browser.get(LIST).status_code == 302
    assert "Set up your second factor" in text_of(browser.get(PAGE))
    entry = LogEntry.objects.get()
    assert (entry.user, entry.object_id) == (ada, str(rita.pk))
    assert entry.change_message == "Second factor taken away: phone lost, ticket 12"


@pytest.mark.parametrize(
    ("username", "by", "words"),
    [
        ("nobody", "ada", "There is nobody called nobody."),
        ("rita", "nobody", "There is nobody called nobody."),
        ("rita", "rita", "Nobody takes their own away"),
        ("ada", "rita", "ada has no second factor."),
    ],
)
def test_it_is_refused_in_words(rita: User, tenant: Tenant, username: str, by: str, words: str) -> None:
    a_factor(rita), a_person(tenant, username="ada")
    with pytest.raises(CommandError, match=words):
        take_away(username, by)
    assert TOTPDevice.objects.count() == 1
    assert LogEntry.objects.count() == 0
