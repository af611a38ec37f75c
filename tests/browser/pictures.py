"""The two pictures of the README, taken of a running demo.

make demo                                                       # in one terminal; it prints address and passwords
.venv/bin/python -m tests.browser.pictures ADDRESS USER PASSWORD
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final

from playwright.sync_api import sync_playwright

if TYPE_CHECKING:
    from playwright.sync_api import Page

PICTURES: Final = Path(__file__).parent.parent.parent / "docs" / "pictures"
SIZE: Final = {"width": 1200, "height": 745}
LARGEST_BYTES: Final = 150_000
"""A README is read on the way; a test holds the pictures to it."""


def take(page: Page, address: str, user: str, password: str) -> None:
    """Sign in, and keep the list and the page of the export that was delivered first."""
    page.goto(f"{address}/admin/login/?next=/admin/exports/exportjob/")
    page.get_by_label("Username").fill(user)
    page.get_by_label("Password").fill(password)
    page.get_by_role("button", name="Log in").click()
    page.wait_for_url("**/exportjob/")
    page.screenshot(path=PICTURES / "list.png")
    page.goto(f"{address}/admin/exports/exportjob/?status=Completed")
    first = page.get_by_role("table").locator("a[href*=change]").last.get_attribute("href")
    page.goto(f"{address}{first}")
    page.screenshot(path=PICTURES / "job.png")


def main() -> None:
    """Take both."""
    address, user, password = sys.argv[1:]
    PICTURES.mkdir(parents=True, exist_ok=True)
    with sync_playwright() as playwright:
        arguments = ["--headless", "--no-sandbox", "--disable-gpu"]
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=arguments)
        take(browser.new_page(viewport=SIZE), address.rstrip("/").removesuffix("/admin"), user, password)  # type: ignore[arg-type] # a size
        browser.close()


if __name__ == "__main__":
    main()
