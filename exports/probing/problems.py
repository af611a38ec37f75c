"""May a destination become active? What a probe has to have shown, and whether it still holds (I8). A pure read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from exports.probing.reading import latest_finished, newest_contract

if TYPE_CHECKING:
    from uuid import UUID

    from exports.models import Destination, DestinationContract


def activation_problems(
    destination: Destination | UUID, using: str = "default", contract: DestinationContract | None = None
) -> list[str]:
    """Return why this contract version (the newest, unless given) may not become active; empty when it may."""
    destination_id = destination if not hasattr(destination, "id") else destination.id
    wanted = contract or newest_contract(destination_id, using)
    if wanted is None:
        return ["The destination has no contract yet."]
    if latest_finished(destination_id, using) is None:
        return ["The destination has not been tried yet. Test the connection first."]
    return []
