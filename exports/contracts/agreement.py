"""What the groups of a contract must agree on with each other."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from exports.contracts.parts import (
    AcknowledgmentKind,
    ChecksumAlgorithm,
    EndpointKind,
    OverwriteForm,
    PublishMode,
)

if TYPE_CHECKING:
    from exports.contracts.contract import Contract
    from exports.typed_json import Problems

Found = Iterator[tuple[str, str]]


def problems_of(contract: "Contract") -> "Problems":
    """Return what contradicts itself, by field path; empty for a sound contract."""
    problems: Problems = {}
    for check in (
        _endpoint,
        _host_keys,
        _publish,
        _overwrite,
        _permissions,
        _verification,
        _acknowledgment,
        _names,
        _retention,
    ):
        for path, words in check(contract):
            problems.setdefault(path, []).append(words)
    return problems


def _endpoint(contract: "Contract") -> Found:
    if contract.endpoint.kind is EndpointKind.DIRECTORY:
        yield from _share(contract)
        return
    needed = {
        "endpoint.host": contract.endpoint.host,
        "auth.user": contract.auth.user,
        "auth.secret_id": contract.auth.secret_id,
    }
    for path, value in needed.items():
        if not value:
            yield path, "this field is required"


def _share(contract: "Contract") -> Found:
    if not contract.paths.directory.startswith("/"):
        yield "paths.directory", "must be absolute for a mounted share"
    if contract.paths.temporary_directory and not contract.paths.temporary_directory.startswith("/"):
        yield "paths.temporary_directory", "must be absolute for a mounted share"
    if contract.paths.scratch_directory and not contract.paths.scratch_directory.startswith("/"):
        yield "paths.scratch_directory", "must be absolute for a mounted share"
    if contract.publish.mode is PublishMode.RENAME_NOREPLACE:
        yield "publish.mode", "a rename within a mounted share replaces silently; use hardlink_remove"


def _host_keys(contract: "Contract") -> Found:
    if contract.endpoint.kind is EndpointKind.SFTP and not contract.host_keys:
        yield "host_keys", "at least one pinned host key is required; no key is trusted on first use"
    for at, key in enumerate(contract.host_keys):
        if key.valid_from is not None and key.valid_to is not None and key.valid_to <= key.valid_from:
            yield f"host_keys.{at}.valid_to", "must be after valid_from"


def _publish(contract: "Contract") -> Found:
    probed = contract.publish.probed
    match contract.publish.mode:
        case PublishMode.RENAME_NOREPLACE if not probed.rename_refuses_existing:
            yield "publish.mode", "plain rename needs a probe that saw it refuse an existing name"
        case PublishMode.DIRECT_WRITE if not probed.exclusive_create_refuses:
            yield "publish.mode", "a direct write needs a probe that saw exclusive creation refuse"
        case PublishMode.HARDLINK_REMOVE if not contract.permissions.may_delete:
            yield "publish.mode", "a link leaves the temporary name behind unless it may be deleted"
        case _:
            return


def _overwrite(contract: "Contract") -> Found:
    if contract.publish.overwrite is OverwriteForm.NONE:
        return
    if contract.publish.mode is PublishMode.DIRECT_WRITE:
        yield "publish.overwrite", "a direct write has no atomic overwriting form"


def _permissions(contract: "Contract") -> Found:
    if contract.verification.read_back and not contract.permissions.may_read:
        yield "verification.read_back", "needs permissions.may_read"


def _verification(contract: "Contract") -> Found:
    proof = contract.verification
    acknowledges = proof.acknowledgment.kind is not AcknowledgmentKind.NONE
    if proof.acknowledgment.completes_automatically and not acknowledges:
        yield "verification.acknowledgment.completes_automatically", "needs a kind of acknowledgment"
    looks = contract.permissions.may_stat or proof.checksum is not ChecksumAlgorithm.NONE
    if not (looks or proof.read_back or acknowledges or proof.publish_reply_is_proof):
        yield "verification", "nothing in this contract could ever prove a delivery"


def _acknowledgment(contract: "Contract") -> Found:
    """Names by which an acknowledgment could be mistaken for something we wrote, or could never be seen."""
    told = contract.verification.acknowledgment
    companions = {companion.suffix for companion in contract.companions}
    elsewhere = told.directory not in ("", contract.paths.directory)
    is_files_own = not (told.prefix or told.suffix or elsewhere)
    is_companions = not (told.prefix or elsewhere) and told.suffix in companions
    match told.kind:
        case AcknowledgmentKind.FILE_APPEARS | AcknowledgmentKind.FILE_RENAMED if is_files_own:
            yield "verification.acknowledgment", "the acknowledgment's name must differ from the file's"
        case AcknowledgmentKind.FILE_APPEARS | AcknowledgmentKind.FILE_RENAMED if is_companions:
            yield "verification.acknowledgment.suffix", "this name is one we write ourselves beside the file"
        case AcknowledgmentKind.MARKER_DISAPPEARS if not (is_files_own or is_companions):
            yield "verification.acknowledgment", "the marker must be the file or a companion that we place"
    if told.kind is not AcknowledgmentKind.NONE and told.negative_suffix and told.negative_suffix == told.suffix:
        yield "verification.acknowledgment.negative_suffix", "a yes and a no would have one name"


def _retention(contract: "Contract") -> Found:
    """Yield what finding and removing our own leftovers at the partner needs."""
    may = contract.permissions
    if contract.retention.may_remove_leftovers and not (may.may_list and may.may_delete):
        yield "retention.may_remove_leftovers", "needs permissions.may_list and permissions.may_delete"


def _names(contract: "Contract") -> Found:
    paths = contract.paths
    in_place = paths.temporary_directory in ("", paths.directory)
    if in_place and not (paths.temporary_prefix or paths.temporary_suffix):
        yield "paths.temporary_suffix", "a temporary name must differ from the final one"
    if paths.scratch_directory and paths.scratch_directory in (paths.directory, paths.temporary_directory):
        yield "paths.scratch_directory", "must be apart from the directories of exports: a probe tries everything in it"
    suffixes = [companion.suffix for companion in contract.companions]
    if len(set(suffixes)) != len(suffixes):
        yield "companions", "two files beside the export would have one name"
