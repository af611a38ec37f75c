"""Under which names, and how, a partner acknowledges one file by its contract. Pure.

A name that we ourselves write can acknowledge nothing by standing there, and a form that cannot be told from its
opposite is none at all: nothing is sought then, rather than something misread.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum, unique
from typing import TYPE_CHECKING, assert_never

from exports.contracts import AcknowledgmentKind
from exports.destinations.naming import is_plain
from exports.evidence import Accepted, CompanionAnswered, Present, ProbeSighting, ReadBack

if TYPE_CHECKING:
    from collections.abc import Sequence

    from exports.contracts import Contract
    from exports.evidence import Evidence, ExpectedFile


@unique
class Sign(StrEnum):
    """What is to be seen under the name.

    LEFT: a file of the partner's own. MOVED: our file, under another name. TAKEN: nothing any more, where a
    file of ours stood.
    """

    LEFT = "left"
    MOVED = "moved"
    TAKEN = "taken"


@dataclass(frozen=True, slots=True)
class Form:
    """One way in which a partner says yes or no to one file."""

    name: str
    sign: Sign
    positive: bool = True


def forms_of(contract: Contract, final_name: str) -> tuple[Form, ...]:
    """Return every form that can be recognized; none where the contract provides for none that can."""
    sign = _sign_of(contract.verification.acknowledgment.kind)
    if sign is None:
        return ()
    return tuple(form for form in _agreed(contract, final_name, sign) if _can_be_told(contract, final_name, form))


def was_placed(form: Form, evidence: Sequence[Evidence], expected: ExpectedFile) -> bool:
    """Whether it is on record that the marker stood there, so that its absence says something."""
    return any(_places(each, form, expected) for each in evidence)


def _places(record: Evidence, form: Form, expected: ExpectedFile) -> bool:
    match record:
        case CompanionAnswered(name=name, answer=Accepted()):
            return name == form.name
        case ReadBack(sighting=Present(size=size)) | ProbeSighting(sighting=Present(size=size)):
            return form.name == expected.name and size == expected.size
        case _:
            return False


def _sign_of(kind: AcknowledgmentKind) -> Sign | None:
    match kind:
        case AcknowledgmentKind.NONE:
            return None
        case AcknowledgmentKind.FILE_APPEARS:
            return Sign.LEFT
        case AcknowledgmentKind.FILE_RENAMED:
            return Sign.MOVED
        case AcknowledgmentKind.MARKER_DISAPPEARS:
            return Sign.TAKEN
    assert_never(kind)


def _agreed(contract: Contract, final_name: str, sign: Sign) -> tuple[Form, ...]:
    told = contract.verification.acknowledgment
    good = Form(f"{told.prefix}{final_name}{told.suffix}", sign)
    if not told.negative_suffix:
        return (good,)
    name = f"{told.prefix}{final_name}{told.negative_suffix}"
    bad = Form(name, Sign.MOVED if sign is Sign.MOVED else Sign.LEFT, positive=False)
    return () if bad.name == good.name else (good, bad)


def _can_be_told(contract: Contract, final_name: str, form: Form) -> bool:
    """Whether the name is one for this partner to use: ours are to be taken away, all others to be given."""
    if not is_plain(form.name):
        return False
    beside_the_file = contract.verification.acknowledgment.directory.rstrip("/") in (
        "",
        contract.paths.directory.rstrip("/"),
    )
    ours = {final_name, *(final_name + each.suffix for each in contract.companions)}
    written_here = beside_the_file and form.name in ours
    return written_here if form.sign is Sign.TAKEN else not written_here
