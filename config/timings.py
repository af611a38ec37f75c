"""Which timings contradict each other, in words that say what to change."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from exports.conf import Limits

RENEWALS_PER_LEASE = 3
"""Two renewals in a row may fail without the lease lapsing."""


def contradictions(limits: Limits) -> list[str]:
    """Return one sentence for each contradiction; an empty list when the timings fit together."""
    return [*_not_positive(limits), *_misfits(limits)]


def _not_positive(limits: Limits) -> Iterator[str]:
    for name in POSITIVE:
        if getattr(limits, name) <= 0:
            yield f"EXPORT_{name.upper()} must be greater than 0."
    if limits.spool_floor_bytes < 0:
        yield "EXPORT_SPOOL_FLOOR_BYTES must be 0 or more."


def _misfits(limits: Limits) -> Iterator[str]:
    if limits.renew_seconds * RENEWALS_PER_LEASE > limits.lease_seconds:
        yield "EXPORT_RENEW_SECONDS must be at most a third of EXPORT_LEASE_SECONDS, so that two may fail."
    if limits.stop_poll_seconds >= limits.lease_seconds:
        yield "EXPORT_STOP_POLL_SECONDS must be below EXPORT_LEASE_SECONDS."
    if limits.sweep_after_seconds <= limits.lease_seconds + limits.recover_every_seconds:
        yield "EXPORT_SWEEP_AFTER_SECONDS must be above EXPORT_LEASE_SECONDS plus EXPORT_RECOVER_EVERY_SECONDS."
    if limits.resolve_after_seconds < limits.recover_every_seconds:
        yield "EXPORT_RESOLVE_AFTER_SECONDS must be at least EXPORT_RECOVER_EVERY_SECONDS."
    if limits.idle_seconds > limits.session_seconds:
        yield "EXPORT_IDLE_SECONDS must be at most EXPORT_SESSION_SECONDS, after which a session ends in any case."
    if limits.step_up_seconds > limits.session_seconds:
        yield "EXPORT_STEP_UP_SECONDS must be at most EXPORT_SESSION_SECONDS, or nobody is ever asked again."
    if limits.proxy_count < 0:
        yield "EXPORT_PROXY_COUNT must be the number of proxies in front of the web process, 0 or more."


POSITIVE = (
    "lease_seconds",
    "renew_seconds",
    "stop_poll_seconds",
    "max_attempts",
    "drain_seconds",
    "resolve_after_seconds",
    "sweep_after_seconds",
    "sweep_batch",
    "sweep_every_seconds",
    "recover_every_seconds",
    "cancel_lock_timeout_ms",
    "dispatch_poll_ms",
    "dispatch_depth",
    "step_up_seconds",
    "idle_seconds",
    "session_seconds",
    "sign_in_failures",
    "sign_in_wait_seconds",
    "api_reads_per_minute",
    "api_writes_per_minute",
    "api_cancels_per_minute",
)
