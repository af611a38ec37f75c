"""Two people who agree with partners, under the web process's own role."""

from __future__ import annotations

import uuid
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from exports.actions.confirm_contract import confirm_contract
from exports.actions.deciding import Verdict
from exports.actions.decline_contract import decline_contract
from exports.actions.propose_contract import Proposal, Proposed, propose_contract
from exports.contracts import Auth, Contract, Endpoint, HostKey, Paths
from exports.queries.agreed import standing_of
from tests.recovery.lives import NOBODYS_KEY

if TYPE_CHECKING:
    from exports.models import Destination, DestinationContract

ANN, BOB, CID = "user:ann", "user:bob", "user:cid"
PASSWORD = b"sealed"


def terms(secret_id: str, host: str = "sftp.example.org") -> Contract:
    return Contract(
        endpoint=Endpoint(host=host),
        paths=Paths(directory="/in"),
        auth=Auth(user="us", secret_id=secret_id),
        host_keys=(HostKey(NOBODYS_KEY),),
    )


def proposal(destination: Destination, by: str = ANN, **changes: Any) -> Proposal:
    """Return the next version, with a new credential, built upon the latest one."""
    secret_id = uuid.uuid4()
    made = Proposal(
        contract_id=uuid.uuid4(),
        tenant_id=destination.tenant_id,
        destination_id=destination.id,
        expected_version=standing_of(destination).latest_version,
        terms=terms(str(secret_id)),
        reason="agreed by mail",
        proposed_by=by,
        sealed=(secret_id, PASSWORD),
    )
    return replace(made, **changes)


def propose(destination: Destination, by: str = ANN, **changes: Any) -> DestinationContract:
    answer = propose_contract(proposal(destination, by, **changes), using="api")
    assert isinstance(answer, Proposed)
    return answer.contract


def verdict(contract: DestinationContract, by: str = BOB, **changes: Any) -> Verdict:
    made = Verdict(
        tenant_id=contract.destination.tenant_id, contract_id=contract.id, decided_by=by, reason="as in the letter"
    )
    return replace(made, **changes)


def no_objections(_contract: DestinationContract, _using: str) -> list[str]:
    """Find nothing wrong, as after a test of the connection that went well."""
    return []


def confirm(
    contract: DestinationContract,
    by: str = BOB,
    *,
    allow_same_person: bool = False,
    judge: Any = no_objections,
    **changes: Any,
) -> Any:
    wanted = verdict(contract, by, **changes)
    return confirm_contract(wanted, allow_same_person=allow_same_person, judge=judge, using="api")


def decline(contract: DestinationContract, by: str = BOB, **changes: Any) -> Any:
    return decline_contract(verdict(contract, by, **changes), using="api")


def in_force(destination: Destination) -> Any:
    destination.refresh_from_db()
    return destination.active_contract_id
