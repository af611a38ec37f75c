"""Bad input gets the answer it is promised, and never a 500."""

from __future__ import annotations

import json
import uuid
from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import psycopg
import pytest
from django.db import connections
from django.test.utils import CaptureQueriesContext
from knox.models import AuthToken

from exports.models import ExportJob
from tests.people import EXPORTS, a_caller, a_token, an_export

if TYPE_CHECKING:
    from collections.abc import Iterator

    from exports.models import Destination
    from tests.people import Caller
    from tests.routing import RoleClient

pytestmark = pytest.mark.django_db(transaction=True, databases=["default", "api"])

DEEP = "[" * 20_000 + "]" * 20_000


def refused(answer: Any, status: int, code: str) -> dict[str, Any]:
    assert (answer.status_code, answer["Content-Type"]) == (status, "application/json"), answer.content
    body: dict[str, Any] = answer.json()
    assert body["code"] == code
    assert body["detail"]
    return body


def send(browser: RoleClient, caller: Caller, body: Any, content_type: str = "application/json") -> Any:
    return browser.generic("POST", EXPORTS, body, content_type=content_type, headers=caller.headers)


@pytest.mark.parametrize(
    "body",
    [
        b"{",
        b"not json",
        b"\xff\xfe",
        b'{"destination_id": NaN}',
        DEEP.encode(),
        b'{"a": ' + b"1" * 5_000 + b"}",
        b'{"id": "\\ud800"}',
    ],
    ids=["cut", "text", "no-utf8", "nan", "deep", "long-number", "lone-surrogate"],
)
def test_a_body_that_is_no_json_is_malformed(browser: RoleClient, caller: Caller, body: bytes) -> None:
    refused(send(browser, caller, body), 400, "Malformed")


def test_no_body_at_all_lacks_its_fields(browser: RoleClient, caller: Caller) -> None:
    assert list(refused(send(browser, caller, b""), 400, "Invalid")["fields"]) == ["destination_id"]


@pytest.mark.parametrize("charset", ["utf-8", "utf-16", "hex", "nonsense"])
def test_whatever_character_set_the_header_claims_json_is_utf8(
    browser: RoleClient, caller: Caller, destination: Destination, charset: str
) -> None:
    body = json.dumps({"destination_id": str(destination.id)}).encode()

    answer = send(browser, caller, body, f"application/json; charset={charset}")

    assert answer.status_code == 201


NOBODYS = "0b0d1e5c-0000-4000-8000-000000000000"
"""A well-formed id of nothing."""


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "destination_id"),
        ({"destination_id": None}, "destination_id"),
        ({"destination_id": "x"}, "destination_id"),
        ({"destination_id": ["x"]}, "destination_id"),
        ({"destination_id": 7}, "destination_id"),
        ({"destination_id": "\0"}, "destination_id"),
        ({"destination_id": NOBODYS, "id": "7"}, "id"),
        ({"destination_id": NOBODYS, "id": {"a": 1}}, "id"),
        ([], "non_field_errors"),
        ("x", "non_field_errors"),
        (None, "non_field_errors"),
    ],
    ids=str,
)
def test_wrong_fields_are_named(caller: Caller, body: Any, field: str) -> None:
    answer = caller.post(json.dumps(body))

    found = refused(answer, 400, "Invalid")
    assert list(found["fields"]) == [field]
    assert not ExportJob.objects.exists()


def test_a_body_beyond_any_need_is_refused_unread(browser: RoleClient, caller: Caller) -> None:
    refused(send(browser, caller, b" " * 70_000), 413, "TooLarge")


@pytest.mark.parametrize("content_type", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data"])
def test_another_media_type_is_refused(browser: RoleClient, caller: Caller, content_type: str) -> None:
    refused(send(browser, caller, b"{}", content_type), 415, "UnsupportedMediaType")


@pytest.mark.parametrize(
    "header",
    [
        "",
        "Token",
        "Token x",
        "Token a b",
        f"Token {'0' * 64}",
        f"Bearer {'0' * 64}",
        "Token \xff\xfe",
        "Token " + "x" * 5_000,
    ],
    ids=["none", "bare", "short", "two", "unknown", "bearer", "bytes", "long"],
)
def test_a_wrong_token_is_not_authenticated(browser: RoleClient, header: str) -> None:
    answer = browser.get(EXPORTS, headers={"authorization": header} if header else {})

    refused(answer, 401, "NotAuthenticated")
    assert answer["WWW-Authenticate"] == "Token"


def test_a_token_changed_in_its_last_letter_is_wrong(browser: RoleClient, caller: Caller) -> None:
    token = caller.token[:-1] + ("0" if caller.token[-1] != "0" else "1")

    refused(browser.get(EXPORTS, headers={"authorization": f"Token {token}"}), 401, "NotAuthenticated")


def test_an_expired_token_is_refused_and_stays_on_record(caller: Caller) -> None:
    expired = replace(caller, token=a_token(caller.user, expiry=timedelta(seconds=-1)))

    refused(expired.get(), 401, "NotAuthenticated")
    assert AuthToken.objects.filter(user=caller.user).count() == 2


def test_a_deactivated_client_is_refused(caller: Caller) -> None:
    caller.user.is_active = False
    caller.user.save()

    refused(caller.get(), 401, "NotAuthenticated")


def test_a_malformed_a_missing_and_a_foreign_id_get_the_same_answer(caller: Caller, destination: Destination) -> None:
    foreign = an_export(destination)
    stranger = a_caller()
    paths = ["x/", f"{uuid.uuid4()}/", f"{foreign.id}/", "%00/", "-1/", "..%2f/"]

    answers = [stranger.get(path) for path in paths]

    assert {answer.status_code for answer in answers} == {404}
    assert len({answer.content for answer in answers}) == 1
    refused(answers[0], 404, "NotFound")
    assert caller.get(f"{foreign.id}/").status_code == 200


def test_a_missing_and_a_foreign_export_cost_the_same_questions(
    destination: Destination,
) -> None:
    foreign, stranger = an_export(destination), a_caller()
    stranger.get()  # connects, and reads the client's permissions for the first time
    counts = []
    for wanted in (foreign.id, uuid.uuid4()):
        with CaptureQueriesContext(connections["api"]) as asked:
            stranger.get(f"{wanted}/")
        counts.append(len(asked))

    assert counts[0] == counts[1]


def test_asking_for_a_foreign_export_is_logged_as_such(
    destination: Destination, caplog: pytest.LogCaptureFixture
) -> None:
    foreign, stranger = an_export(destination), a_caller()
    stranger.get(f"{foreign.id}/")

    (told,) = (record.__dict__ for record in caplog.records if record.name == "exports.access")
    assert told["msg"] == "export_out_of_reach"
    assert (told["actor"], told["asked_for"]) == (f"client:{stranger.name}", str(foreign.id))
    assert told["why"] == "foreign"


@pytest.mark.parametrize("method", ["PUT", "PATCH", "DELETE"])
def test_a_method_without_a_verb_is_not_allowed(browser: RoleClient, caller: Caller, method: str) -> None:
    refused(browser.generic(method, EXPORTS, headers=caller.headers), 405, "MethodNotAllowed")


@pytest.fixture
def no_more_logins(admin_url: str) -> Iterator[None]:
    """Let exports_api sign in no more, as when the server is full or restarting."""
    database = str(connections["default"].settings_dict["NAME"])
    connections["api"].close()
    with psycopg.connect(admin_url, autocommit=True) as admin:
        admin.execute("ALTER ROLE exports_api CONNECTION LIMIT 0")
        admin.execute(
            "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity"
            " WHERE usename = 'exports_api' AND datname = %s",
            [database],
        )
        yield
        admin.execute("ALTER ROLE exports_api CONNECTION LIMIT -1")


@pytest.mark.usefixtures("no_more_logins")
def test_without_the_database_nothing_was_decided_and_the_client_is_told_when_to_ask_again(
    caller: Caller, destination: Destination
) -> None:
    for answer in (caller.get(), caller.post({"destination_id": str(destination.id)})):
        refused(answer, 503, "Unavailable")
        assert int(answer["Retry-After"]) > 0
    assert not ExportJob.objects.exists()


def test_an_error_nobody_foresaw_says_nothing_about_the_inside(
    caller: Caller, destination: Destination, admin_url: str
) -> None:
    job = an_export(destination)
    database = str(connections["default"].settings_dict["NAME"])
    with psycopg.connect(admin_url, autocommit=True, dbname=database) as admin:
        admin.execute("REVOKE SELECT ON holds FROM exports_api")
        try:
            body = refused(caller.get(f"{job.id}/"), 500, "ServerError")
        finally:
            admin.execute("GRANT SELECT ON holds TO exports_api")

    assert "holds" not in str(body)
