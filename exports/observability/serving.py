"""The counters of a process without a web server, on a port of its own; 0: nowhere."""

from __future__ import annotations

import logging

from prometheus_client import start_http_server

from exports.conf import limits
from exports.observability import counters

logger = logging.getLogger(__name__)


def serve_counters() -> None:
    """Answer scrapes from a daemon thread. A port that is taken costs the metrics, never the work."""
    if limits().metrics_port == 0:
        return
    try:
        start_http_server(limits().metrics_port, limits().metrics_address, registry=counters.REGISTRY)
    except OSError as error:
        logger.error(  # noqa: TRY400 - the words say all; a traceback says nothing more
            "metrics_not_served", extra={"port": limits().metrics_port, "error": str(error)}
        )
