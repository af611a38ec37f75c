"""Logs: one JSON object a line, or readable lines on a terminal; the ids in context stand on every one of them."""

from __future__ import annotations

import logging
import sys
from typing import Any

import structlog

SHARED: list[Any] = [
    structlog.contextvars.merge_contextvars,
    structlog.stdlib.add_log_level,
    structlog.stdlib.add_logger_name,
    structlog.stdlib.ExtraAdder(),
    structlog.processors.TimeStamper(fmt="iso", utc=True),
]
"""What happens to every record, ours or a library's."""

QUIET = {"paramiko": "WARNING", "celery.app.trace": "WARNING", "celery.worker.strategy": "WARNING"}
"""Libraries that say at INFO what our own events say better, or what no operator needs."""


def configure_structlog() -> None:
    """Let libraries that log through structlog, and Python's warnings, end in the same handlers."""
    logging.captureWarnings(capture=True)
    structlog.configure(
        processors=[structlog.stdlib.filter_by_level, *SHARED, structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
        logger_factory=structlog.stdlib.LoggerFactory(),
        cache_logger_on_first_use=True,
    )


def logging_config(*, as_json: bool | None) -> dict[str, Any]:
    """Return Django's LOGGING. `as_json` None: JSON unless standard error is a terminal."""
    json_lines = not sys.stderr.isatty() if as_json is None else as_json
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {
            "structured": {
                "()": structlog.stdlib.ProcessorFormatter,
                "foreign_pre_chain": SHARED,
                "processors": [structlog.stdlib.ProcessorFormatter.remove_processors_meta, *_renderers(json_lines)],
            }
        },
        "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "structured"}},
        "root": {"handlers": ["stderr"], "level": "INFO"},
        "loggers": {name: {"level": level} for name, level in QUIET.items()},
    }


def _renderers(json_lines: bool) -> list[Any]:  # noqa: FBT001 - one private caller
    if json_lines:
        # A newline inside a value becomes \\n: nobody can forge a line.
        return [structlog.processors.format_exc_info, structlog.processors.JSONRenderer()]
    return [structlog.dev.ConsoleRenderer()]
