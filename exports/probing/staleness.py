"""Does what a probe found still hold? Not once the contract leads elsewhere, or the server is another. Pure reads."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from exports.contracts import Contract, ContractError, EndpointKind
from exports.dossier import evidence_of
from exports.evidence import Baseline
from exports.models import ExportJob

if TYPE_CHECKING:
    from collections.abc import Iterator
    from uuid import UUID

    from exports.probing.reading import Probe
    from exports.probing.report import Report

RESTS_ON = ("endpoint", "auth", "paths")
"""The groups of a contract that decide what a probe finds: where, as whom, and in which directories.

What is sent, when, and how it is published can change without a new probe; the server's keys are compared with the
one it proved itself with.
"""


def staleness(probe: Probe, contract: Contract, using: str = "default") -> list[str]:
    """Return why a finished probe says nothing about this contract any more, in words; empty while it does."""
    report = probe.report
    if report is None:
        return ["The result of the last test cannot be read by this version of the program; test again."]
    found = [*_contract_changed(probe, contract), *_key_not_pinned(report, contract)]
    return found + list(_server_changed(probe, report, using))


def _contract_changed(probe: Probe, contract: Contract) -> Iterator[str]:
    version = probe.contract.version
    try:
        tried = Contract.from_json(probe.contract.terms)
    except ContractError:
        yield f"Version {version} of the contract, which was tested, cannot be read; test again."
        return
    changed = [group for group in RESTS_ON if getattr(tried, group) != getattr(contract, group)]
    if changed:
        yield f"The contract was changed since the test of version {version} ({', '.join(changed)}); test again."


def _key_not_pinned(report: Report, contract: Contract) -> Iterator[str]:
    now = datetime.now(UTC)
    pinned = {key.fingerprint for key in contract.host_keys if key.valid_at(now)}
    sftp = contract.endpoint.kind is EndpointKind.SFTP
    if sftp and report.host_key and report.host_key not in pinned:
        yield f"The server was tested under the host key {report.host_key}, which is not pinned now; test again."


def _server_changed(probe: Probe, report: Report, using: str) -> Iterator[str]:
    """Compare with what the last delivery since then met."""
    since = probe.request.result.finished_at
    seen = _last_met(probe.request.destination_id, since, using)
    if seen is None:
        return
    if seen.server != report.server:
        yield (
            f"The server called itself {report.server or 'nothing'} when it was tested, and"
            f" {seen.server or 'nothing'} at the last delivery; test again."
        )
    if seen.host_key != report.host_key:
        yield (
            f"The server was tested under the host key {report.host_key or 'none'}, and the last delivery met"
            f" {seen.host_key or 'none'}; test again."
        )


def _last_met(destination_id: UUID, since: datetime, using: str) -> Baseline | None:
    jobs = ExportJob.objects.using(using).filter(destination_id=destination_id, delivery_authorized_at__gt=since)
    job = jobs.order_by("-delivery_authorized_at").first()
    if job is None or job.attempt_id is None:
        return None
    return next((each for each in evidence_of(job.id, job.attempt_id, using) if isinstance(each, Baseline)), None)
