"""Ask for a destination to be tried ("test connection"): a worker takes the request and records what it found."""

from __future__ import annotations

import uuid
from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.db import DEFAULT_DB_ALIAS

from exports.models import DestinationContract, ProbeRequest
from exports.probing.reading import newest_contract

if TYPE_CHECKING:
    from uuid import UUID


@dataclass(frozen=True, slots=True)
class Requested:
    """The request is on record, by this click or an earlier sending of it; a worker takes it within seconds."""

    request: ProbeRequest


@dataclass(frozen=True, slots=True)
class NothingToProbe:
    """The destination has no contract yet, so nobody knows where to connect to; nothing was written."""


def request_probe(
    destination_id: UUID,
    requested_by: str,
    using: str = DEFAULT_DB_ALIAS,
    *,
    request_id: UUID | None = None,
    contract: DestinationContract | None = None,
) -> Requested | NothingToProbe:
    """Ask for a probe of the destination's newest contract version, or of the one given.

    The caller has checked who asks and that the destination is theirs. A click sent again under its `request_id`
    is still one request. Database errors pass through.
    """
    probed = contract or newest_contract(destination_id, using)
    if probed is None:
        return NothingToProbe()
    request, _ = ProbeRequest.objects.using(using).get_or_create(
        id=request_id or uuid.uuid4(),
        defaults={"destination_id": destination_id, "contract_id": probed.id, "requested_by": requested_by},
    )
    return Requested(request)
