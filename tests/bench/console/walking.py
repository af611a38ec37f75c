"""Opening pages as a person does: how long each takes, what it asks the database, and by which plans."""

from __future__ import annotations

import re
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from django.db import connections
from django.test.utils import CaptureQueriesContext

from tests.bench.console.building import LARGE

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.bench.console.pages import Page
    from tests.routing import RoleClient

SCANNED = re.compile(rf"Seq Scan on ({'|'.join(LARGE)})\b")


@dataclass(slots=True)
class Opened:
    """What opening one page again and again gave: milliseconds each, and the queries of one time."""

    page: Page
    status: int
    milliseconds: list[float] = field(default_factory=list)
    queries: list[str] = field(default_factory=list)
    slowest: float = 0.0


def walk(browser: RoleClient, pages: list[Page], times: int) -> Iterator[Opened]:
    """Open each page once to see its queries, and then so many times with a clock."""
    for page in pages:
        path = _arrive(browser, page)
        with CaptureQueriesContext(connections[browser.alias]) as asked:
            answer = browser.get(path)
        opened = Opened(page, answer.status_code, queries=[each["sql"] for each in asked.captured_queries])
        for _ in range(times):
            began = time.perf_counter()
            path = _arrive(browser, page)
            browser.get(path)
            opened.milliseconds.append((time.perf_counter() - began) * 1000)
        yield opened


def _arrive(browser: RoleClient, page: Page) -> str:
    """Return the page's address; of one behind a form, after the form was sent."""
    if page.form is None:
        return page.path
    sent = browser.post(page.path, page.form)
    return str(sent.headers.get("Location", page.path))


def scans(alias: str, queries: list[str]) -> Iterator[str]:
    """Yield each query that would read a large table from end to end, with the table."""
    with connections[alias].cursor() as cursor:
        for query in queries:
            if not query.lstrip("( ").upper().startswith("SELECT"):
                continue
            cursor.execute("EXPLAIN " + query)
            found = SCANNED.search("\n".join(line for (line,) in cursor.fetchall()))
            if found:
                yield f"{found.group(1)}: {query}"
