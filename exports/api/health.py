"""`/healthz/live` and `/healthz/ready`, without a token and without a word about the inside."""

from __future__ import annotations

import logging
import socket
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from django.conf import settings
from django.db import DEFAULT_DB_ALIAS, DatabaseError, InterfaceError, connections
from django.http import JsonResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from exports.observability import readiness

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
    """Answer whether an export would get through: 200, or 503 naming what does not work.

    Database and broker are asked now; worker, dispatcher, beat and both queues were seen so many seconds ago, of
    at most so many. A queue without a consumer that listens is red, whatever else is up.
    """
    parts = [_answer("database", well=_database_answers()), _answer("broker", well=_broker_reachable())]
    parts += [_aged(part) for part in readiness.parts()]
    well = all(part["status"] == "ok" for part in parts)
    body = {
        "status": "ok" if well else "unavailable",
        "checks": {part["name"]: part["status"] for part in parts},
        "ages": {part["name"]: part["age"] for part in parts if "age" in part},
    }
    return JsonResponse(body, status=200 if well else 503)


def _answer(name: str, *, well: bool) -> dict[str, Any]:
    return {"name": name, "status": "ok" if well else "unavailable"}


def _aged(part: readiness.Part) -> dict[str, Any]:
    seconds = None if part.age_seconds is None else round(part.age_seconds, 1)
    return _answer(part.name, well=part.is_well) | {
        "age": {"age_seconds": seconds, "bound_seconds": part.bound_seconds}
    }


def _database_answers() -> bool:
    connection = connections[DEFAULT_DB_ALIAS]
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
            return bool(cursor.fetchone() == (1,))
    except (DatabaseError, InterfaceError) as error:
        logger.warning("not_ready_database", extra={"error": type(error).__name__})
        connection.close()
        return False


def _broker_reachable() -> bool:
    parts = urlsplit(settings.CELERY_BROKER_URL)
    address = (parts.hostname or "localhost", parts.port or BROKER_PORTS.get(parts.scheme, 0))
    try:
        with socket.create_connection(address, timeout=BROKER_SECONDS):
            return True
    except OSError as error:
        logger.warning("not_ready_broker", extra={"error": type(error).__name__})
        return False
