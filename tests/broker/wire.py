"""What stands in the broker: the messages of a queue, and those somebody has taken and not settled."""

from __future__ import annotations

import base64
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from uuid import UUID

if TYPE_CHECKING:
    import redis

EXPORTS = "exports"


@dataclass(frozen=True)
class Message:
    """One wake-up as it lies in the broker."""

    message_id: UUID
    job_id: UUID
    redelivered: bool


def queued(broker: redis.Redis) -> list[Message]:
    """Return the messages that wait for a worker."""
    return [_read(json.loads(raw)) for raw in broker.lrange(EXPORTS, 0, -1)]


def unsettled(broker: redis.Redis) -> list[Message]:
    """Return the messages a worker holds and has not settled."""
    return [_read(json.loads(raw)[0]) for raw in broker.hvals("unacked")]


def held_by(broker: redis.Redis) -> list[Message]:
    """Return every message there is, waiting or taken."""
    return queued(broker) + unsettled(broker)


def _read(message: dict[str, Any]) -> Message:
    headers, properties = message["headers"], message["properties"]
    args = json.loads(base64.b64decode(message["body"]))[0]
    redelivered = bool(properties.get("delivery_info", {}).get("redelivered") or headers.get("redelivered"))
    return Message(UUID(headers["id"]), UUID(args[0]), redelivered)
