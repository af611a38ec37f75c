"""The console over two million exports with their events: every page within 300 ms, and no large table read whole."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.test.utils import override_settings

from exports.models import Tenant
from tests.bench import datasets
from tests.bench.console.building import fill
from tests.bench.console.pages import pages_of
from tests.bench.console.walking import Opened, scans, walk
from tests.bench.figures import Figure, percentile
from tests.people import a_person
from tests.routing import RoleClient, role

if TYPE_CHECKING:
    from collections.abc import Iterator

    from django.contrib.auth.models import User

    from tests.bench.bench import Bench

MUST_MS = 300.0
TIMES = 20
"""So often each page is opened by each person; the 95th percentile is the second slowest of them."""
JOBS_OF_EACH = 2
"""So many times the size that the run was told: two million by default."""

SLUGS = {"a superuser": None, "a member of a middling tenant": "tenant-7", "a member of a dormant one": "tenant-20"}
"""Who opens the pages: what a reach costs differs most between these."""


def run(bench: Bench) -> Iterator[Figure]:
    """Yield the slowest person's 95th percentile of each page, and how many queries read a large table whole."""
    with datasets.copy_of(bench, _kept(bench)) as database:
        alias = bench.alias("console", "api", database)
        with override_settings(DATABASE_ROUTERS=["tests.routing.RoleRouter"], ALLOWED_HOSTS=["testserver"]):
            opened = [(who, each) for who, slug in SLUGS.items() for each in _walked(alias, slug)]
            whole = [scan for _, each in opened for scan in scans(alias, each.queries)]
    yield from _figures(opened)
    for scan in sorted(set(whole)):
        bench.report(scan)
    yield Figure("queries that read a large table whole", len(whole), "", at_most=0)


def _kept(bench: Bench) -> str:
    jobs = JOBS_OF_EACH * bench.sizes.finished_jobs
    with bench.session() as session:
        row = session.execute("SELECT max(name) FROM django_migrations WHERE app = 'exports'").fetchone()
    schema = row[0].partition("_")[0] if row else ""  # a data set of another schema is another data set
    return datasets.kept(bench, f"bench_console_{jobs}_{schema}", lambda one, owner: fill(owner, jobs, one.report))


def _walked(alias: str, slug: str | None) -> list[Opened]:
    """Open every page as one person: a superuser, or a member of one tenant."""
    with role(alias):
        tenant = Tenant.objects.get(slug=slug or "tenant-1")
        person = a_person(is_superuser=True) if slug is None else a_person(tenant, group="Export operators")
        pages = pages_of(tenant)
    return list(walk(_browser(person, alias), pages, TIMES))


def _browser(person: User, alias: str) -> RoleClient:
    browser = RoleClient(alias)
    with role(alias):
        browser.force_login(person)
    return browser


def _figures(opened: list[tuple[str, Opened]]) -> Iterator[Figure]:
    by_page: dict[str, list[tuple[float, str, Opened]]] = {}
    for who, each in opened:
        by_page.setdefault(each.page.name, []).append((percentile(each.milliseconds, 95), who, each))
    for name, found in by_page.items():
        slowest, who, each = max(found, key=lambda one: one[0])
        statuses = sorted({one.status for _, _, one in found})
        beside = f"{who}; {len(each.queries)} queries; answers {', '.join(map(str, statuses))}"
        yield Figure(name, slowest, "ms", at_most=MUST_MS, beside=beside)
