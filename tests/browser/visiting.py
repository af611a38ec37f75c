"""A person's window: what it shows, and everything the page's policy refused or a script stumbled over."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.people import PASSWORD

if TYPE_CHECKING:
    from playwright.sync_api import BrowserContext, ConsoleMessage, Page

AUDIT = Path(__file__).with_name("audit.js")


class Visitor:
    """One person's browser context with one window; further windows share its sign-in."""

    def __init__(self, context: BrowserContext, shots: Path) -> None:
        self.context, self.shots = context, shots
        self.refused: list[str] = []
        context.set_default_timeout(10_000)
        self.page = self.window()

    def window(self) -> Page:
        """Open one more window."""
        page = self.context.new_page()
        page.on("console", self._heard)
        page.on("pageerror", lambda error: self.refused.append(str(error)))
        return page

    def _heard(self, message: ConsoleMessage) -> None:
        if "Content Security Policy" in message.text:
            self.refused.append(message.text)

    def sign_in(self, username: str) -> None:
        self.page.goto("/admin/login/?next=/admin/exports/exportjob/")
        self.page.get_by_label("Username").fill(username)
        self.page.get_by_label("Password").fill(PASSWORD)
        self.page.get_by_role("button", name="Log in").click()
        self.page.wait_for_url("**/admin/exports/exportjob/")

    def open(self, path: str) -> Page:
        self.page.goto(path)
        return self.page

    def shoot(self, name: str, page: Page | None = None) -> None:
        """Keep what is to be seen, whole."""
        self.shots.mkdir(parents=True, exist_ok=True)
        (page or self.page).screenshot(path=self.shots / f"{name}.png", full_page=True)

    def audit(self) -> list[str]:
        """Return what is wrong with the page for whoever cannot see it well, or has no mouse."""
        found: list[str] = self.page.evaluate(AUDIT.read_text(encoding="utf-8"))
        return found

    def text(self, page: Page | None = None) -> str:
        return " ".join((page or self.page).locator("main").inner_text().split())

    def style(self, selector: str, name: str) -> Any:
        return self.page.locator(selector).first.evaluate(f"each => getComputedStyle(each).{name}")
