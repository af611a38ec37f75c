"""POST exports/: one export a request, whatever is sent twice."""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING, Any

from exports.models import CreationRequest, Delivery, OutboxMessage

if TYPE_CHECKING:
    from exports.models import Destination
    from tests.people import Caller
    from tests.routing import RoleClient

EXPORTS = "/api/v1/exports/"


def post(client: RoleClient, caller: Caller, body: Any) -> Any:
    return client.post(EXPORTS, body, content_type="application/json", headers=caller.headers)


def test_a_new_export_is_queued_with_its_key_its_request_and_its_first_wake_up(
    client: RoleClient, caller: Caller, destination: Destination
) -> None:
    answer = post(client, caller, {"destination_id": str(destination.id)})

    body = answer.json()
    assert answer.status_code == 201
    assert answer["Location"].endswith(f"{EXPORTS}{body['id']}/")
    assert (body["status"], body["version"], body["created_by"]) == ("Queued", 1, f"client:{caller.name}")
    assert (body["cancellable"], body["held"]) == ("CanceledWhileQueued", None)
    assert Delivery.objects.get().delivery_key == body["delivery_key"]
    assert CreationRequest.objects.get().job_id == uuid.UUID(body["id"])
    assert OutboxMessage.objects.get().job_id == uuid.UUID(body["id"])
