"""What a page of the console says, and the forms on it, as a person without a script has them."""

from __future__ import annotations

import re
from html import unescape
from html.parser import HTMLParser
from typing import Any

from tests.people import a_person
from tests.routing import RoleClient


def signed_in(user: Any) -> RoleClient:
    browser = RoleClient()
    browser.force_login(user)
    return browser


def one_of(group: str, *tenants: Any, **values: Any) -> RoleClient:
    """Return the browser of a new person of this group."""
    return signed_in(a_person(*tenants, group=group, **values))


def text_of(answer: Any) -> str:
    """Return what is to be read on a page, spaces as one; on a busy machine, seconds ago are just now too."""
    page = re.sub(r"<(script|style|svg)\b.*?</\1>", " ", answer.content.decode(), flags=re.DOTALL)
    text = " ".join(unescape(re.sub(r"<[^>]+>", " ", page)).split()).replace(" .", ".").replace(" ,", ",")
    return re.sub(r"\b\d+ s ago", "just now", text)


class _Fields(HTMLParser):
    """Collects what the form with the given id would send as it stands."""

    def __init__(self, form_id: str) -> None:
        super().__init__()
        self.form_id, self.inside, self.area = form_id, False, ""
        self.values: dict[str, str] = {}
        self.options: dict[str, list[str]] = {}
        self.select = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        names = dict(attrs)
        if tag == "form":
            self.inside = names.get("id") == self.form_id
        if self.inside:
            getattr(self, f"_{tag}", lambda _: None)(names)

    def _input(self, names: dict[str, str | None]) -> None:
        name, kind = str(names.get("name")), names.get("type")
        if kind in {"radio", "checkbox"}:
            self.options.setdefault(name, []).append(str(names.get("value")))
        if kind not in {"radio", "checkbox"} or "checked" in names:
            self.values[name] = str(names.get("value") or ("on" if kind == "checkbox" else ""))

    def _textarea(self, names: dict[str, str | None]) -> None:
        self.area = str(names.get("name"))
        self.values[self.area] = ""

    def _select(self, names: dict[str, str | None]) -> None:
        self.select = str(names.get("name"))

    def _option(self, names: dict[str, str | None]) -> None:
        self.options.setdefault(self.select, []).append(str(names.get("value")))
        if "selected" in names or self.select not in self.values:
            self.values[self.select] = str(names.get("value") or "")

    def handle_endtag(self, tag: str) -> None:
        self.inside = self.inside and tag != "form"
        self.area = "" if tag == "textarea" else self.area

    def handle_data(self, data: str) -> None:
        if self.inside and self.area:
            self.values[self.area] = (self.values[self.area] + data).strip()


def _read(answer: Any, form_id: str) -> _Fields:
    fields = _Fields(form_id)
    fields.feed(answer.content.decode())
    return fields


def fields_of(answer: Any, form_id: str = "act-form") -> dict[str, str]:
    """Return the form's fields with what stands in them."""
    values = _read(answer, form_id).values
    values.pop("csrfmiddlewaretoken", None)
    return values


def offered(answer: Any, name: str, form_id: str = "act-form") -> list[str]:
    """Return what a list or a row of buttons offers to choose from."""
    return _read(answer, form_id).options.get(name, [])


def fill(browser: RoleClient, path: str, **filled: str) -> Any:
    """Open a page, fill its form in and send it; the answer is what comes back, redirects not followed."""
    opened = browser.get(path)
    assert opened.status_code == 200, opened.status_code
    return browser.post(path, {**fields_of(opened), **filled})


def confirm(browser: RoleClient, path: str, **filled: str) -> Any:
    """Fill a form in, and confirm its answers on the page that shows them once more."""
    checked = fill(browser, path, **filled)
    assert checked.status_code == 200, checked.status_code
    assert "Read it once more before it counts" in text_of(checked), text_of(checked)
    return browser.post(path, {**fields_of(checked), "confirmed": "yes"})
