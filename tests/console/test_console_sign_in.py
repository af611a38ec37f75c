"""Signing in: wrong passwords are counted by name and address, and a session ends by itself."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from axes.models import AccessAttempt
from django.core.management import call_command
from django.test import RequestFactory

from exports.admin.signed_in import SEEN_AT, SIGNED_IN_AT
from exports.proxies import client_address
from tests.console.pages import text_of
from tests.people import PASSWORD, a_person
from tests.routing import RoleClient, role

if TYPE_CHECKING:
    from exports.models import Tenant

pytestmark = pytest.mark.django_db(databases=["default", "api"], transaction=True)

LOGIN = "/admin/login/"
LIST = "/admin/exports/exportjob/"
ELSEWHERE = "203.0.113.7"


def sign_in(username: str, password: str, **asked: Any) -> Any:
    return RoleClient().post(LOGIN, {"username": username, "password": password}, **asked)


def fail_often(username: str, **asked: Any) -> Any:
    for _ in range(5):
        answer = sign_in(username, "not the password", **asked)
    return answer


def test_after_some_wrong_passwords_a_name_is_not_tried_from_there_for_a_while(tenant: Tenant) -> None:
    olga = a_person(tenant, group="Export operators", username="olga")
    assert [sign_in("olga", "not the password").status_code for _ in range(4)] == [200] * 4

    for answer in (sign_in("olga", "not the password"), sign_in("olga", PASSWORD)):
        assert answer.status_code == 429
        assert answer.headers["Retry-After"] == "900"
        assert "Try again in 15 minutes." in text_of(answer)
        assert "sessionid" not in answer.cookies
    olga.refresh_from_db()
    assert olga.last_login is None


def test_a_name_that_does_not_exist_is_told_the_same(tenant: Tenant) -> None:
    a_person(tenant, username="olga")
    assert fail_often("olga").content == fail_often("nobody").content


def test_one_attacker_locks_out_neither_others_from_there_nor_the_person_elsewhere(tenant: Tenant) -> None:
    a_person(tenant, username="olga"), a_person(tenant, username="otto")
    assert fail_often("olga").status_code == 429

    assert sign_in("otto", PASSWORD).status_code == 302
    assert sign_in("olga", PASSWORD, REMOTE_ADDR=ELSEWHERE).status_code == 302


def test_the_wait_ends_whoever_goes_on_trying(tenant: Tenant) -> None:
    a_person(tenant, username="olga")
    fail_often("olga")
    before = AccessAttempt.objects.get()
    sign_in("olga", "not the password")
    assert AccessAttempt.objects.get().attempt_time == before.attempt_time

    AccessAttempt.objects.update(attempt_time=before.attempt_time.replace(year=2020))

    assert sign_in("olga", PASSWORD).status_code == 302
    assert AccessAttempt.objects.count() == 0


def test_a_command_lets_somebody_in_again_at_once(tenant: Tenant) -> None:
    a_person(tenant, username="olga")
    fail_often("olga")
    with role("api"):
        call_command("axes_reset_username", "olga")
    assert sign_in("olga", PASSWORD).status_code == 302


def test_neither_a_password_nor_a_csrf_token_is_kept_of_a_failure() -> None:
    RoleClient().post(LOGIN, {"username": "olga", "password": "s3cret-guess", "csrfmiddlewaretoken": "t0ken"})
    kept = repr(AccessAttempt.objects.values().get())
    assert "s3cret-guess" not in kept
    assert "t0ken" not in kept


@pytest.mark.parametrize("username", ["ol\0ga", "x" * 5_000, "\ud800".encode("utf-8", "surrogatepass"), ""])
def test_a_strange_name_is_only_a_wrong_one(username: Any) -> None:
    assert sign_in(username, "not the password").status_code == 200


@pytest.mark.parametrize(
    ("proxies", "told", "found"),
    [
        (0, None, "192.0.2.1"),
        (0, "198.51.100.9", "192.0.2.1"),
        (1, "198.51.100.9", "198.51.100.9"),
        (1, "6.6.6.6, 198.51.100.9", "198.51.100.9"),
        (2, "6.6.6.6, 198.51.100.9, 10.0.0.1", "198.51.100.9"),
        (2, "198.51.100.9", "198.51.100.9"),
        (1, None, "192.0.2.1"),
        (1, "not an address", "192.0.2.1"),
        (1, "::ffff:198.51.100.9", "198.51.100.9"),
        (1, "2001:db8:1:2:3:4:5:6", "2001:db8:1:2::"),
    ],
)
def test_the_address_is_the_one_that_the_own_proxies_saw(
    settings: Any, proxies: int, told: str | None, found: str
) -> None:
    settings.EXPORTS = replace(settings.EXPORTS, proxy_count=proxies)
    headers = {} if told is None else {"x-forwarded-for": told}
    assert client_address(RequestFactory().get("/", REMOTE_ADDR="192.0.2.1", headers=headers)) == found


def test_a_socket_without_an_address_still_lets_people_in_and_counts(tenant: Tenant) -> None:
    a_person(tenant, username="olga")
    assert fail_often("olga", REMOTE_ADDR="").status_code == 429
    assert sign_in("olga", PASSWORD).status_code == 302


def aged(browser: RoleClient, **seconds: int) -> None:
    session = browser.session
    for name, age in seconds.items():
        session[name] = int(time.time()) - age
    session.save()


def test_who_does_nothing_for_half_an_hour_signs_in_again(operator: RoleClient) -> None:
    aged(operator, **{SEEN_AT: 1_790})
    assert operator.get(LIST).status_code == 200
    aged(operator, **{SEEN_AT: 1_810})
    assert operator.get(LIST).headers["Location"] == f"{LOGIN}?next={LIST}"
    assert "_auth_user_id" not in operator.session


def test_a_page_that_refreshes_itself_keeps_nobody_signed_in(operator: RoleClient) -> None:
    aged(operator, **{SEEN_AT: 1_000})
    operator.get(LIST, headers={"X-Part": "rows"})
    assert operator.session[SEEN_AT] <= time.time() - 1_000
    operator.get(LIST)
    assert operator.session[SEEN_AT] > time.time() - 100


def test_nobody_stays_signed_in_longer_than_a_working_day(operator: RoleClient) -> None:
    aged(operator, **{SIGNED_IN_AT: 28_900})
    assert operator.get(LIST).status_code == 302


def test_a_session_that_does_not_know_its_times_is_over(operator: RoleClient) -> None:
    session = operator.session
    del session[SEEN_AT]
    session.save()
    assert operator.get(LIST).status_code == 302
