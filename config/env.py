"""The environment, read once and sealed: every value typed, every error reported together.

Nothing else in the project reads the environment. A secret may also be given as NAME_FILE.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlsplit

from environs import FileAwareEnv

from exports.conf import Limits

if TYPE_CHECKING:
    from collections.abc import Mapping

URL_VARIABLE = {
    "owner": "MIGRATION_DATABASE_URL",
    "api": "API_DATABASE_URL",
    "worker": "WORKER_DATABASE_URL",
    "dispatcher": "DISPATCHER_DATABASE_URL",
    "acknowledger": "ACKNOWLEDGER_DATABASE_URL",
    "auditor": "AUDITOR_DATABASE_URL",
}
"""Which variable holds the login of each EXPORT_ROLE; DATABASE_URL, when set, wins."""


@dataclass(frozen=True, slots=True)
class Environment:
    """What this process was told; see INTERFACES in the README for each variable."""

    role: str
    database_url: str
    reconciliation_url: str
    admin_url: str
    role_urls: Mapping[str, str]
    broker_url: str
    secret_key: str
    allowed_hosts: list[str]
    csrf_trusted_origins: list[str]
    debug: bool
    log_json: bool | None
    second_factor: bool | None
    exports: Limits


def database_options(url: str) -> dict[str, Any]:
    """Turn postgresql://user:password@host:port/name into Django's DATABASES entry.

    keepalives find a peer that died while we wait for a reply, tcp_user_timeout one that died before our
    bytes were acknowledged; each misses what the other sees. Ten seconds is far below the lease.
    """
    parts = urlsplit(url)
    return {
        "ENGINE": "django.db.backends.postgresql",
        "NAME": unquote(parts.path.lstrip("/")),
        "USER": unquote(parts.username or ""),
        "PASSWORD": unquote(parts.password or ""),
        "HOST": parts.hostname or "",
        "PORT": parts.port or "",
        "CONN_MAX_AGE": 60,
        "CONN_HEALTH_CHECKS": True,
        "OPTIONS": {
            "connect_timeout": 5,
            "keepalives_idle": 5,
            "keepalives_interval": 2,
            "keepalives_count": 3,
            "tcp_user_timeout": 10_000,
        },
    }


def _limits(env: FileAwareEnv) -> Limits:
    default = Limits()
    return Limits(
        lease_seconds=env.float("EXPORT_LEASE_SECONDS", default.lease_seconds),
        renew_seconds=env.float("EXPORT_RENEW_SECONDS", default.renew_seconds),
        stop_poll_seconds=env.float("EXPORT_STOP_POLL_SECONDS", default.stop_poll_seconds),
        max_attempts=env.int("EXPORT_MAX_ATTEMPTS", default.max_attempts),
        drain_seconds=env.float("EXPORT_DRAIN_SECONDS", default.drain_seconds),
        resolve_after_seconds=env.float("EXPORT_RESOLVE_AFTER_SECONDS", default.resolve_after_seconds),
        sweep_after_seconds=env.float("EXPORT_SWEEP_AFTER_SECONDS", default.sweep_after_seconds),
        sweep_batch=env.int("EXPORT_SWEEP_BATCH", default.sweep_batch),
        sweep_every_seconds=env.float("EXPORT_SWEEP_EVERY_SECONDS", default.sweep_every_seconds),
        recover_every_seconds=env.float("EXPORT_RECOVER_EVERY_SECONDS", default.recover_every_seconds),
        scavenge_every_seconds=env.float("EXPORT_SCAVENGE_EVERY_SECONDS", default.scavenge_every_seconds),
        cancel_lock_timeout_ms=env.int("EXPORT_CANCEL_LOCK_TIMEOUT_MS", default.cancel_lock_timeout_ms),
        dispatch_poll_ms=env.int("EXPORT_DISPATCH_POLL_MS", default.dispatch_poll_ms),
        dispatch_depth=env.int("EXPORT_DISPATCH_DEPTH", default.dispatch_depth),
        spool_dir=Path(env.str("EXPORT_SPOOL_DIR", "")),
        spool_floor_bytes=env.int("EXPORT_SPOOL_FLOOR_BYTES", default.spool_floor_bytes),
        source=env.str("EXPORT_SOURCE", default.source),
        policy=env.str("EXPORT_POLICY", default.policy),
        credential_keys=tuple(env.list("CREDENTIAL_KEYS", [])),
        share_roots=tuple(map(Path, env.list("EXPORT_SHARE_ROOTS", []))),
        allow_same_person_correction=env.bool("EXPORT_ALLOW_SAME_PERSON_CORRECTION", default=False),
        allow_same_person_confirmation=env.bool("EXPORT_ALLOW_SAME_PERSON_CONFIRMATION", default=False),
        crash_points=env.str("EXPORT_CRASH_POINTS", ""),
        metrics_port=env.int("EXPORT_METRICS_PORT", default.metrics_port),
        metrics_address=env.str("EXPORT_METRICS_ADDRESS", default.metrics_address),
        # The names are the library's and gunicorn's own.
        metrics_directory=env.path("PROMETHEUS_MULTIPROC_DIR", None),
        web_processes=env.int("WEB_CONCURRENCY", default.web_processes),
        allow_private_destinations=env.bool("EXPORT_ALLOW_PRIVATE_DESTINATIONS", default=False),
        **_doors(env, default),
    )


def _doors(env: FileAwareEnv, default: Limits) -> dict[str, Any]:
    """Read how people sign in, and how much a client may ask for."""
    return {
        "step_up_seconds": env.float("EXPORT_STEP_UP_SECONDS", default.step_up_seconds),
        "idle_seconds": env.float("EXPORT_IDLE_SECONDS", default.idle_seconds),
        "session_seconds": env.float("EXPORT_SESSION_SECONDS", default.session_seconds),
        "sign_in_failures": env.int("EXPORT_SIGN_IN_FAILURES", default.sign_in_failures),
        "sign_in_wait_seconds": env.float("EXPORT_SIGN_IN_WAIT_SECONDS", default.sign_in_wait_seconds),
        "proxy_count": env.int("EXPORT_PROXY_COUNT", default.proxy_count),
        "api_reads_per_minute": env.int("EXPORT_API_READS_PER_MINUTE", default.api_reads_per_minute),
        "api_writes_per_minute": env.int("EXPORT_API_WRITES_PER_MINUTE", default.api_writes_per_minute),
        "api_cancels_per_minute": env.int("EXPORT_API_CANCELS_PER_MINUTE", default.api_cancels_per_minute),
    }


def read_environment() -> Environment:
    """Read and validate every variable; raise environs.EnvValidationError naming all that are wrong."""
    env = FileAwareEnv(eager=False)
    role = env.str("EXPORT_ROLE", "api")
    urls = {name: env.str(variable, "") for name, variable in URL_VARIABLE.items()}
    result: dict[str, Any] = {
        "role": role,
        "role_urls": {**urls, "reconciler": env.str("RECONCILIATION_DATABASE_URL", "")},
        "database_url": env.str("DATABASE_URL", "") or urls.get(role, ""),
        "reconciliation_url": env.str("RECONCILIATION_DATABASE_URL", "") if role == "api" else "",
        "admin_url": env.str("ADMIN_DATABASE_URL", ""),
        "broker_url": env.str("BROKER_URL", ""),
        "secret_key": env.str("SECRET_KEY", ""),
        "allowed_hosts": env.list("ALLOWED_HOSTS", []),
        "csrf_trusted_origins": env.list("CSRF_TRUSTED_ORIGINS", []),
        "debug": env.bool("DEBUG", default=False),
        "log_json": env.bool("LOG_JSON", default=None),
        "second_factor": env.bool("EXPORT_SECOND_FACTOR", default=None),
        "exports": _limits(env),
    }
    env.seal()
    return Environment(**result)
