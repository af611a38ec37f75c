"""A person's window: what it shows, and everything the page's policy refused or a script stumbled over."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import axe_playwright_python  # type: ignore[import-untyped] # only the program in it is used

from tests.people import PASSWORD

if TYPE_CHECKING:
    from playwright.sync_api import BrowserContext, ConsoleMessage, Page

AUDIT = Path(__file__).with_name("audit.js")
AXE = Path(axe_playwright_python.__file__).with_name("axe.min.js")
"""The rules of WCAG as a program, in the wheel: nothing is fetched while tests run."""
RULES = ("wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22a", "wcag22aa", "best-practice")
Scheme = Literal["dark", "light"]
SCHEMES: tuple[Scheme, ...] = ("dark", "light")
DJANGOS_OWN = (".help-tooltip", ".vDateField", ".vTimeField")
"""Widgets of Django on its pages of users and groups, which superusers alone can open."""
RUN_AXE = """
async ([tags, exclude]) => {
    await Promise.all(document.getAnimations().map((each) => each.finished));
    const { violations } = await axe.run({ exclude }, { runOnly: { type: "tag", values: tags } });
    return violations.flatMap((each) => each.nodes.map((node) => `${each.id}: ${node.target}`));
}
"""
REPORT = """
document.addEventListener("securitypolicyviolation", (each) =>
    console.error(`Content Security Policy: ${each.violatedDirective} ${each.blockedURI} at ${location.pathname}`));
"""


@cache
def _axe() -> str:
    return AXE.read_text(encoding="utf-8")


class Visitor:
    """One person's browser context with one window; further windows share its sign-in."""

    def __init__(
        self, context: BrowserContext, shots: Path, *, has_scripts: bool = True, scheme: Scheme = "light"
    ) -> None:
        self.context, self.shots, self.has_scripts, self.scheme = context, shots, has_scripts, scheme
        self.refused: list[str] = []
        self.inaccessible: list[str] = []
        context.set_default_timeout(10_000)
        context.add_init_script(REPORT)
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
        self.give_password(username)
        self.page.wait_for_url("**/admin/exports/exportjob/")

    def give_password(self, username: str) -> None:
        self.page.goto("/admin/login/?next=/admin/exports/exportjob/")
        self.page.get_by_label("Username").fill(username)
        self.page.get_by_label("Password").fill(PASSWORD)
        self.page.get_by_role("button", name="Log in").click()

    def open(self, path: str) -> Page:
        self.page.goto(path)
        return self.page

    def shoot(self, name: str, page: Page | None = None) -> None:
        """Keep what is to be seen, whole."""
        self.shots.mkdir(parents=True, exist_ok=True)
        (page or self.page).screenshot(path=self.shots / f"{name}.png", full_page=True)

    def inspect(self, name: str) -> None:
        """Keep what is to be seen, and note what axe finds on it, in light and in dark."""
        self.shoot(name)
        self.inaccessible += [f"{name}: {found}" for found in self.axe()]

    def axe(self, page: Page | None = None) -> list[str]:
        """Return what breaks a rule of axe on a page, in light and in dark."""
        page = page or self.page
        if not self.has_scripts:
            return []
        found: list[str] = []
        before = list(self.refused)
        page.evaluate(_axe())
        for scheme in SCHEMES:
            page.emulate_media(color_scheme=scheme)
            found += [f"{scheme}: {each}" for each in page.evaluate(RUN_AXE, [RULES, DJANGOS_OWN])]
        page.emulate_media(color_scheme=self.scheme)
        page.wait_for_timeout(100)  # what the browser says of axe has arrived
        self.refused[:] = before  # axe measures with styles of its own, which the policy refuses it
        return found

    def audit(self) -> list[str]:
        """Return what is wrong with the page for whoever cannot see it well, or has no mouse."""
        found: list[str] = self.page.evaluate(AUDIT.read_text(encoding="utf-8"))
        return found

    def text(self, page: Page | None = None) -> str:
        return " ".join((page or self.page).locator("main").inner_text().split())

    def style(self, selector: str, name: str) -> Any:
        return self.page.locator(selector).first.evaluate(f"each => getComputedStyle(each).{name}")
