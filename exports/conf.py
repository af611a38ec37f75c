"""The project's own settings, typed; the only way application code reads them."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from django.conf import settings


@dataclass(frozen=True, slots=True)
class Limits:
    """Timings, bounds and pluggable parts. Durations are in the unit their name ends in."""

    lease_seconds: float = 60.0
    renew_seconds: float = 20.0
    stop_poll_seconds: float = 1.0
    max_attempts: int = 5
    drain_seconds: float = 120.0
    resolve_after_seconds: float = 900.0
    sweep_after_seconds: float = 1800.0
    sweep_batch: int = 500
    sweep_every_seconds: float = 60.0
    recover_every_seconds: float = 10.0
    scavenge_every_seconds: float = 300.0
    cancel_lock_timeout_ms: int = 2000
    dispatch_poll_ms: int = 20
    dispatch_batch: int = 500
    dispatch_depth: int = 500
    broker_timeout_seconds: float = 5.0
    spool_dir: Path = Path("spool")
    spool_floor_bytes: int = 256 * 1024 * 1024
    source: str = "exports.worker.source.ContactsTable"
    policy: str = "exports.worker.policy.BuiltInPolicy"
    credential_keys: tuple[str, ...] = field(default=(), repr=False)
    allow_private_destinations: bool = False
    share_roots: tuple[Path, ...] = ()
    allow_same_person_correction: bool = False
    allow_same_person_confirmation: bool = False
    crash_points: str = ""
    metrics_port: int = 0
    metrics_address: str = "127.0.0.1"
    metrics_directory: Path | None = None
    web_processes: int = 1
    second_factor: bool = True
    step_up_seconds: float = 300.0
    idle_seconds: float = 1800.0
    session_seconds: float = 28_800.0
    sign_in_failures: int = 5
    sign_in_wait_seconds: float = 900.0
    proxy_count: int = 0
    api_reads_per_minute: int = 1200
    api_writes_per_minute: int = 300
    api_cancels_per_minute: int = 300


def limits() -> Limits:
    """Return the sealed settings of this process."""
    return settings.EXPORTS
