"""Let exports wait because a person says so: a pause of a destination or a tenant, or the freeze of everything (I5)."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from django.db import DEFAULT_DB_ALIAS

from exports.crashpoints import reach
from exports.models import Hold
from exports.states import HoldCause

if TYPE_CHECKING:
    from uuid import UUID


@dataclass(frozen=True, slots=True, kw_only=True)
class Pause:
    """One person's wish; `id` is their request id and becomes the hold's. With no scope: the freeze."""

    id: UUID
    created_by: str
    reason: str
    tenant_id: UUID | None = None
    destination_id: UUID | None = None

    @property
    def cause(self) -> HoldCause:
        """What the hold is recorded as."""
        everything = self.tenant_id is None and self.destination_id is None
        return HoldCause.FROZEN if everything else HoldCause.PAUSED


@dataclass(frozen=True, slots=True)
class Held:
    """The hold is on record, by this request or an earlier sending of it; it may have ended since."""

    hold: Hold


@dataclass(frozen=True, slots=True)
class IdReused:
    """The id belongs to another hold; nothing was written."""


def open_hold(pause: Pause, *, using: str = DEFAULT_DB_ALIAS) -> Held | IdReused:
    """Open a person's hold, once; the caller has checked who they are and that the scope is theirs.

    Database errors pass through: sent again under the same id, the wish is still one hold.
    """
    wanted = asdict(pause) | {"cause": pause.cause.value}
    hold, _ = Hold.objects.using(using).get_or_create(id=pause.id, defaults=wanted)
    reach("hold.open.after")
    same = all(getattr(hold, name) == value for name, value in wanted.items() if name != "reason")
    return Held(hold) if same else IdReused()
