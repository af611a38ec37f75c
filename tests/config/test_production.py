"""What every answer of a production process carries: the headers and cookies that keep a browser from harm."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.config.test_startup import started

ASK = """
import json
from django.conf import settings
from django.test import Client
plain, page = Client().get("/admin/login/"), Client().get("/admin/login/", secure=True)
cookie = page.cookies["csrftoken"]
print(json.dumps({
    "plain": [plain.status_code, plain.headers.get("Location", "")],
    "status": page.status_code,
    "headers": dict(page.headers),
    "csrf": [bool(cookie["secure"]), bool(cookie["httponly"]), cookie["samesite"]],
    "session": [settings.SESSION_COOKIE_SECURE, settings.SESSION_COOKIE_HTTPONLY, settings.SESSION_COOKIE_SAMESITE],
}))
"""


@pytest.fixture(scope="module")
def answer() -> dict[str, Any]:
    done = started(
        "shell", "--no-imports", "-c", ASK, DJANGO_SETTINGS_MODULE="config.settings.base", ALLOWED_HOSTS="testserver"
    )
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def test_plain_http_is_sent_on_to_https(answer: dict[str, Any]) -> None:
    assert answer["plain"] == [301, "https://testserver/admin/login/"]


@pytest.mark.parametrize(
    ("header", "words"),
    [
        ("Strict-Transport-Security", "max-age=31536000; includeSubDomains; preload"),
        ("Content-Security-Policy", "default-src 'none'"),
        ("Content-Security-Policy", "frame-ancestors 'none'"),
        ("X-Frame-Options", "DENY"),
        ("X-Content-Type-Options", "nosniff"),
        ("Referrer-Policy", "same-origin"),
        ("Cross-Origin-Opener-Policy", "same-origin"),
    ],
)
def test_every_answer_says_what_a_browser_may_do_with_it(answer: dict[str, Any], header: str, words: str) -> None:
    assert answer["status"] == 200
    assert words in answer["headers"][header]
    assert "unsafe" not in answer["headers"]["Content-Security-Policy"]


@pytest.mark.parametrize("cookie", ["csrf", "session"])
def test_cookies_go_over_https_alone_to_no_script_and_with_no_foreign_form(answer: dict[str, Any], cookie: str) -> None:
    assert answer[cookie] == [True, True, "Lax"]
