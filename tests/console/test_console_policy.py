"""Nothing inline, nothing from elsewhere, in no frame; and a page for when the database is away."""

from __future__ import annotations

from html.parser import HTMLParser
from typing import TYPE_CHECKING

import psycopg
import pytest
from django.db import connections

from exports.admin.pages import pages
from exports.admin.verbs import verbs
from tests.lives import unknown
from tests.people import a_person
from tests.routing import RoleClient

if TYPE_CHECKING:
    from collections.abc import Iterator

    from exports.models import Destination

pytestmark = pytest.mark.django_db(transaction=True, databases=["default", "api", "worker", "reconciliation"])

STRICT = {
    "default-src": "'none'",
    "script-src": "'self'",
    "style-src": "'self'",
    "img-src": "'self'",
    "font-src": "'self'",
    "connect-src": "'self'",
    "form-action": "'self'",
    "frame-ancestors": "'none'",
    "base-uri": "'none'",
}


class Inline(HTMLParser):
    """Collects what a strict policy would refuse, and every address the page loads from."""

    def __init__(self) -> None:
        super().__init__()
        self.refused: list[str] = []
        self.loaded: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        names = dict(attrs)
        if tag == "style" or (tag == "script" and "src" not in names):
            self.refused.append(tag)
        self.refused += [f"{tag} {name}" for name in names if name == "style" or name.startswith("on")]
        if tag in {"script", "img"}:
            self.loaded.append(str(names.get("src")))
        if tag == "link":
            self.loaded.append(str(names.get("href")))


def policy(header: str) -> dict[str, str]:
    return dict(part.strip().split(" ", 1) for part in header.split(";"))


def test_every_page_keeps_to_the_strict_policy(destination: Destination) -> None:
    job = unknown(destination).job
    browser = RoleClient()
    browser.force_login(a_person(is_superuser=True))
    lists = [f"/admin/exports/{model._meta.model_name}/" for model in pages()]
    of_job = [f"/admin/exports/exportjob/{job.id}/{verb}/" for verb in ("change", *(verb.name for verb in verbs()))]
    others = [f"{of_job[0][:-7]}evidence/?kind=statement", "/admin/worklist/", "/admin/exports/hold/freeze/"]
    paths = ["/admin/", "/admin/exports/", "/admin/nothing/", *lists, *of_job, *others]

    for path in paths:
        answer = browser.get(path)
        read = Inline()
        read.feed(answer.content.decode())
        assert read.refused == [], path
        assert all(address.startswith("/static/") for address in read.loaded), path
        assert policy(answer["Content-Security-Policy"]) == STRICT, path


@pytest.mark.parametrize(
    "path",
    [
        "/admin/login/",
        "/api/v1/exports/",
        "/api/v1/nothing",
        "/healthz/live",
        "/nothing",
        "/static/exports/console.css",
    ],
)
def test_the_policy_comes_with_every_kind_of_answer(browser: RoleClient, path: str) -> None:
    answer = browser.get(path)
    answer.close()

    assert policy(answer["Content-Security-Policy"]) == STRICT


def test_an_unknown_address_is_answered_to_a_person_in_words(browser: RoleClient) -> None:
    answer = browser.get("/nothing")

    assert answer.status_code == 404
    assert "There is no such page here" in answer.content.decode()


@pytest.fixture
def no_more_logins(admin_url: str) -> Iterator[None]:
    """Let exports_api sign in no more, as when the server is full or restarting."""
    connections["api"].close()
    with psycopg.connect(admin_url, autocommit=True) as admin:
        admin.execute("ALTER ROLE exports_api CONNECTION LIMIT 0")
        yield
        admin.execute("ALTER ROLE exports_api CONNECTION LIMIT -1")


def test_without_the_database_a_person_is_told_so_and_when_to_try_again(
    viewer: RoleClient, request: pytest.FixtureRequest
) -> None:
    request.getfixturevalue("no_more_logins")

    answer = viewer.get("/admin/exports/exportjob/")

    assert (answer.status_code, answer["Retry-After"]) == (503, "5")
    assert "The database did not answer" in answer.content.decode()
    assert policy(answer["Content-Security-Policy"]) == STRICT
