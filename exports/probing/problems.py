"""May a contract version become active? What a probe must have shown, and whether that still holds (I8). Pure reads."""

from __future__ import annotations

from typing import TYPE_CHECKING

from exports.contracts import ChecksumAlgorithm, Contract, ContractError, OverwriteForm
from exports.models import Destination
from exports.probing.judging import NO_SAFE_WAY, objections_to, propose
from exports.probing.reading import State, finished_for, latest, newest_contract
from exports.probing.staleness import staleness

if TYPE_CHECKING:
    from collections.abc import Iterator
    from uuid import UUID

    from exports.models import DestinationContract
    from exports.probing.report import Report

_UNTESTED = {
    None: "The connection has not been tested yet; test it first.",
    State.WAITING: "The connection test is waiting for a worker.",
    State.RUNNING: "The connection is being tested.",
    State.LOST: "The connection test ended without a result; test again.",
}


def activation_problems(
    destination: Destination | UUID, using: str = "default", contract: DestinationContract | None = None
) -> list[str]:
    """Return why this contract version (the newest, unless given) may not become active; empty when it may.

    A person reads these; whoever activates must ask again, under the same transaction as the activation.
    """
    destination_id = destination.id if isinstance(destination, Destination) else destination
    wanted = contract or newest_contract(destination_id, using)
    if wanted is None:
        return ["The destination has no contract yet."]
    try:
        terms = Contract.from_json(wanted.terms)
    except ContractError as error:
        return [f"The contract cannot be read: {error}"]
    return _problems(wanted, terms, using)


def _problems(wanted: DestinationContract, terms: Contract, using: str) -> list[str]:
    probe = finished_for(wanted, using)
    if probe is None:
        last = latest(wanted.destination_id, using)
        return [_UNTESTED[last.state if last else None]]
    stale = staleness(probe, terms, using)
    if probe.report is None:
        return stale
    if probe.report.trouble:
        return [*stale, f"The last connection test did not get through. {probe.report.trouble}"]
    return [*stale, *publishing_problems(terms, probe.report), *_untrue(terms, probe.report)]


def publishing_problems(contract: Contract, report: Report) -> list[str]:
    """Return why the contract's way to publish is not safe on this server, and what would be."""
    objections = objections_to(contract.publish.mode, report)
    if not objections:
        return []
    proposal = propose(report)
    if proposal.mode is None:
        return [NO_SAFE_WAY, *objections]
    return [*objections, f"Agree on the publish mode {proposal.mode} instead. {proposal.why[0]}"]


def _untrue(contract: Contract, report: Report) -> Iterator[str]:
    """Yield what the contract counts on and the server does not do."""
    found, may = report.findings, contract.permissions
    counted_on = (
        (may.may_stat, found.may_stat, "permissions.may_stat: the server does not tell what stands under a name"),
        (may.may_list, found.may_list, "permissions.may_list: the server does not let the folder be listed"),
        (may.may_read, found.may_read, "permissions.may_read: the server does not let a file be read back"),
        (may.may_delete, found.may_remove, "permissions.may_delete: the server does not let a file be removed"),
        (
            contract.verification.checksum is ChecksumAlgorithm.SHA256,
            found.hashes_sha256,
            "verification.checksum: the server does not tell a SHA-256",
        ),
        (
            contract.publish.overwrite is OverwriteForm.POSIX_RENAME,
            found.replaces_atomically,
            "publish.overwrite: the server does not replace a file in one step",
        ),
    )
    yield from (
        f"{words}, but the contract counts on it." for counts, does, words in counted_on if counts and does is False
    )
