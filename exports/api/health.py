"""`/healthz/live` and `/healthz/ready`, without a token and without a word about the inside."""

from __future__ import annotations

import logging
import socket
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from django.conf import settings
from django.db import DEFAULT_DB_ALIAS, DatabaseError, connections
from django.http import JsonResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

if TYPE_CHECKING:
    from django.http import HttpRequest

logger = logging.getLogger(__name__)

BROKER_PORTS = {"redis": 6379, "rediss": 6379, "amqp": 5672, "amqps": 5671}
BROKER_SECONDS = 1.0
"""A broker that takes longer to accept a connection than this is not ready to wake anybody."""


@never_cache
@require_safe
def live(_request: HttpRequest) -> JsonResponse:
    """Answer that this process answers; asks nothing of anybody else, so that it is not restarted for them."""
    return JsonResponse({"status": "ok"})


@never_cache
@require_safe
def ready(_request: HttpRequest) -> JsonResponse:
    """Answer whether the database answers and the broker can be reached: 200, or 503 naming what does not."""
    checks = {"database": _database_answers(), "broker": _broker_reachable(settings.CELERY_BROKER_URL)}
    well = all(checks.values())
    body = {
        "status": "ok" if well else "unavailable",
        "checks": {name: "ok" if is_well else "unavailable" for name, is_well in checks.items()},
    }
    return JsonResponse(body, status=200 if well else 503)


def _database_answers() -> bool:
    connection = connections[DEFAULT_DB_ALIAS]
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
            return bool(cursor.fetchone() == (1,))
    except DatabaseError as error:
        logger.warning("not ready: the database did not answer: %s", type(error).__name__)
        connection.close()
        return False


def _broker_reachable(url: str) -> bool:
    parts = urlsplit(url)
    address = (parts.hostname or "localhost", parts.port or BROKER_PORTS.get(parts.scheme, 0))
    try:
        with socket.create_connection(address, timeout=BROKER_SECONDS):
            return True
    except OSError as error:
        logger.warning("not ready: the broker cannot be reached: %s", type(error).__name__)
        return False
