"""A real Chromium against the web process; screenshots are kept under test-artifacts/."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from playwright.sync_api import sync_playwright

from tests.browser.serving import address
from tests.browser.visiting import Visitor
from tests.people import a_person
from tests.web import destination, tenant, web_process

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from playwright.sync_api import Browser

    from exports.models import Tenant

__all__ = ["address", "destination", "tenant", "web_process"]

SHOTS = Path(__file__).parent.parent.parent / "test-artifacts" / "screens"


def _program() -> str:
    for name in ("chromium", "chromium-browser", "google-chrome"):
        if found := shutil.which(name):
            return found
    if os.environ.get("REQUIRE_SERVERS") == "1":
        pytest.fail("REQUIRE_SERVERS=1, but no Chromium is installed here")
    pytest.skip("no Chromium is installed here")


@pytest.fixture(scope="module")
def chromium(django_db_setup: None) -> Iterator[Browser]:  # noqa: ARG001 - order
    """Return a browser; ended with its module, since its loop runs in this thread."""
    program = _program()
    with pytest.MonkeyPatch.context() as patch, sync_playwright() as playwright:
        # Django would take every query of this thread for a mistake while that loop runs.
        patch.setenv("DJANGO_ALLOW_ASYNC_UNSAFE", "true")
        browser = playwright.chromium.launch(
            executable_path=program, args=["--headless", "--no-sandbox", "--disable-gpu"]
        )
        yield browser
        browser.close()


@pytest.fixture
def visit(chromium: Browser, address: str) -> Iterator[Callable[..., Visitor]]:
    """Return a function that signs a person in through the form and hands over their window; nobody: just a window.

    At the end nothing on any page was refused by the policy, and nothing that was inspected breaks a rule of axe.
    """
    visitors: list[Visitor] = []

    def enter(person: Any | None, **context: Any) -> Visitor:
        context.setdefault("viewport", {"width": 1280, "height": 900})
        known = {
            "has_scripts": context.get("java_script_enabled", True),
            "scheme": context.get("color_scheme", "light"),
        }
        visitor = Visitor(chromium.new_context(base_url=address, **context), SHOTS, **known)
        visitors.append(visitor)
        if person is not None:
            visitor.sign_in(person.username)
        return visitor

    yield enter
    for visitor in visitors:
        visitor.context.close()
    assert [visitor.refused for visitor in visitors if visitor.refused] == []
    assert [visitor.inaccessible for visitor in visitors if visitor.inaccessible] == []


@pytest.fixture
def operator(visit: Callable[..., Visitor], tenant: Tenant) -> Visitor:
    """Return the window of a signed-in export operator whose name is olga."""
    return visit(a_person(tenant, group="Export operators", username="olga"))
