"""What a look at a final name showed, and what a partner's server answered to a publish request.

Four things a look can show are kept apart because they prove different things: absent, present, forbidden
to know, and no answer.
"""

from dataclasses import dataclass
from enum import StrEnum, unique
from typing import ClassVar

from exports.evidence.shown import Shown, Text


@unique
class Trouble(StrEnum):
    """Why something did not work or was not answered."""

    STATUS = "status"
    TIMEOUT = "timeout"
    CONNECTION_LOST = "connection_lost"
    PROTOCOL = "protocol"
    LOCAL = "local"
    ABANDONED = "abandoned"


@dataclass(frozen=True)
class Absent:
    """The server says that no such name exists."""

    KIND: ClassVar = "absent"


@dataclass(frozen=True)
class Present:
    """The name exists. `size` in bytes and `sha256` (hex) are None where the server does not tell."""

    KIND: ClassVar = "present"
    size: int | None
    sha256: str | None = None
    regular: bool = True


@dataclass(frozen=True)
class Forbidden(Shown):
    """The server will not tell, for want of permission; this says nothing about the name."""

    KIND: ClassVar = "forbidden"
    code: int | None = None
    text: Text = ""


@dataclass(frozen=True)
class Unanswered(Shown):
    """The look got no usable answer: what went wrong, with the status code where there was one."""

    KIND: ClassVar = "unanswered"
    trouble: Trouble
    code: int | None = None
    text: Text = ""


Sighting = Absent | Present | Forbidden | Unanswered
"""What one look at one name showed."""


@dataclass(frozen=True)
class Accepted:
    """The server answered that it did what was asked."""

    KIND: ClassVar = "accepted"


@dataclass(frozen=True)
class Refused(Shown):
    """The server answered with an error status. Alone this does not prove that nothing happened."""

    KIND: ClassVar = "refused"
    code: int
    text: Text = ""


@dataclass(frozen=True)
class NoReply(Shown):
    """The request left, or may have left, and no answer came back: anything may have happened."""

    KIND: ClassVar = "no_reply"
    trouble: Trouble
    text: Text = ""


Answer = Accepted | Refused | NoReply
"""What a request to change a name was answered."""
