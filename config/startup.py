"""What every kind of process checks before it starts; Django's system checks alone stop neither gunicorn nor Celery.

A contradiction ends the process with one sentence for each thing to fix. A database that does not answer yet is
not a contradiction: the process starts and waits for it.
"""

from __future__ import annotations

import logging
import os
import sys
from typing import TYPE_CHECKING

import psycopg
from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.db import DatabaseError, InterfaceError, connections

from config import pooling

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

logger = logging.getLogger(__name__)

NEEDS_BROKER = {"worker", "beat", "dispatcher"}
LOOPBACK_HOSTS = {"localhost", "127.0.0.1", "[::1]"}
PRIVILEGE_SQL = """
    SELECT rolsuper OR pg_has_role(current_user, 'exports_owner', 'MEMBER') FROM pg_roles
    WHERE rolname = current_user"""


def check(process: str) -> None:
    """Refuse to start: raise ImproperlyConfigured naming everything that is missing or contradictory.

    `process` is web, worker, beat, or the role of a command.
    """
    problems = [*_settings_problems(process)]
    if process != "beat":
        problems += [*_login_problems(), *_privilege_problems(), *_pooling_problems(process)]
    if problems:
        raise ImproperlyConfigured(" ".join(problems))


def _settings_problems(process: str) -> Iterator[str]:
    if process in NEEDS_BROKER and not settings.CELERY_BROKER_URL:
        yield "BROKER_URL is not set; give redis:// or amqp://."
    if process == "web" and not settings.SECRET_KEY:
        yield "SECRET_KEY is not set."
    if settings.DEBUG and not set(settings.ALLOWED_HOSTS) <= LOOPBACK_HOSTS:
        yield "DEBUG may only be on while ALLOWED_HOSTS names nothing but loopback."
    if process == "web" and not settings.EXPORTS.second_factor and not set(settings.ALLOWED_HOSTS) <= LOOPBACK_HOSTS:
        yield "EXPORT_SECOND_FACTOR may only be off while ALLOWED_HOSTS names nothing but loopback."
    if process == "web":
        yield from _counting_problems()
    builds = process == "worker" and settings.EXPORT_ROLE == "worker"
    if builds and not settings.EXPORTS.spool_dir.is_absolute():
        yield "EXPORT_SPOOL_DIR is not set to an absolute path; give a directory only this user can read."


def _counting_problems() -> Iterator[str]:
    told = settings.EXPORTS
    processes = max(told.web_processes, web_processes(sys.argv))
    if processes > 1 and told.metrics_directory is None:
        yield (
            f"{processes} web processes would each show a part of the counters: set PROMETHEUS_MULTIPROC_DIR to an"
            " empty directory of theirs, or run one process with more threads."
        )
    if told.metrics_directory is not None and not os.access(told.metrics_directory, os.W_OK | os.X_OK):
        yield "PROMETHEUS_MULTIPROC_DIR is not a directory that this process can write to."


def web_processes(command: Sequence[str]) -> int:
    """Return how many processes gunicorn's command line asks for; one when it does not say."""
    words = iter(command)
    for word in words:
        name, _, number = word.partition("=")
        if name in {"-w", "--workers"}:
            number = number or next(words, "")
        elif word.startswith("-w") and word[2:].isdigit():
            number = word[2:]
        else:
            continue
        return int(number) if number.isdigit() else 1
    return 1


def _login_problems() -> Iterator[str]:
    if "default" not in settings.DATABASES:
        yield f"No database login for EXPORT_ROLE={settings.EXPORT_ROLE}; set its *_DATABASE_URL."
        return
    user = settings.DATABASES["default"]["USER"]
    if user != f"exports_{settings.EXPORT_ROLE}":
        yield f"EXPORT_ROLE={settings.EXPORT_ROLE} must log in as exports_{settings.EXPORT_ROLE}, not as {user}."
    if settings.EXPORT_ROLE == "owner":
        yield "No running process may log in as exports_owner; only migrations do."


def _pooling_problems(process: str) -> Iterator[str]:
    try:
        yield from pooling.problems(process)
    except (DatabaseError, InterfaceError, psycopg.Error) as error:
        logger.warning("database_away", extra={"error": type(error).__name__})


def _privilege_problems() -> Iterator[str]:
    if "default" not in settings.DATABASES:
        return
    try:
        with connections["default"].cursor() as cursor:
            cursor.execute(PRIVILEGE_SQL)
            row = cursor.fetchone()
    except (DatabaseError, InterfaceError) as error:
        logger.warning("database_away", extra={"error": type(error).__name__})
        return
    finally:
        connections["default"].close()
    if row and row[0]:
        yield "This login is a superuser or a member of exports_owner; no running process may be either."
