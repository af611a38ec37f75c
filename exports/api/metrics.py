"""`/metrics` of the web process: its own counters and the gauges of the database, in Prometheus's text form."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.http import HttpResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe
from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, generate_latest
from prometheus_client.multiprocess import MultiProcessCollector

from exports.conf import limits
from exports.observability import counters, gauges

if TYPE_CHECKING:
    from django.http import HttpRequest


@never_cache
@require_safe
def metrics(_request: HttpRequest) -> HttpResponse:
    """Answer a scrape. No token: it shows numbers by status and kind, no tenant, partner or person."""
    body = generate_latest(_counted()) + generate_latest(gauges.REGISTRY)
    return HttpResponse(body, content_type=CONTENT_TYPE_LATEST)


def _counted() -> CollectorRegistry:
    """Return this process's own counters, or, where several share a directory, the sum of all of theirs."""
    directory = limits().metrics_directory
    if directory is None:
        return counters.REGISTRY
    together = CollectorRegistry()
    MultiProcessCollector(together, str(directory))  # type: ignore[no-untyped-call] # the library's
    return together
