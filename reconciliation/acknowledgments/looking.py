"""One look at a partner for the acknowledgments of several deliveries, over one session.

What is found comes from a stranger: names are only ever ours, sizes and contents are bounded, and nothing of it
is a path. A look changes nothing at the partner.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from exports.evidence import Absent, Acknowledged, Present, Unanswered, shown
from reconciliation.acknowledgments.forms import Form, Sign, forms_of, was_placed
from reconciliation.acknowledgments.said import MOST_BYTES, NOTHING, Said, said_by, said_in

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from uuid import UUID

    from exports.contracts import Contract
    from exports.destinations.protocol import Session
    from exports.evidence import Sighting
    from reconciliation.acknowledgments.awaited import Awaited

MOST_WORDS = 400
"""Characters of an acknowledgment's content that are kept; a page that shows it needs no more."""


@dataclass(frozen=True, slots=True)
class Sought:
    """What one delivery's partner is looked at for."""

    job_id: UUID
    attempt_id: UUID
    final_name: str
    forms: tuple[Form, ...]
    known: frozenset[str]

    @classmethod
    def of(cls, awaited: Awaited) -> Sought:
        """Choose what to look for: a marker only where the attempt saw it stand."""
        forms = [
            form
            for form in forms_of(awaited.contract, awaited.expected.name)
            if form.sign is not Sign.TAKEN or was_placed(form, awaited.evidence, awaited.expected)
        ]
        known = frozenset(each.name for each in awaited.evidence if isinstance(each, Acknowledged))
        return cls(awaited.job.id, awaited.attempt_id, awaited.expected.name, tuple(forms), known)


@dataclass(frozen=True, slots=True)
class Found:
    """One acknowledgment as it was seen.

    `mark` tells it from another under the same name: the content's hash, or else its size. `certain` is False
    where something seen beside it speaks against it, so that it can be tied to nothing but its key.
    """

    job_id: UUID
    attempt_id: UUID
    contract: Contract
    form: Form
    mark: str
    said: Said = NOTHING
    words: str = ""
    certain: bool = True


@dataclass(slots=True)
class Looked:
    """What one look came to: what was found, and how many names got no answer."""

    found: list[Found] = field(default_factory=list)
    unanswered: int = 0


def look(session: Session, contract: Contract, all_sought: Sequence[Sought]) -> Looked:
    """Look for all of these. Raises nothing for what the world can break."""
    looked = Looked()
    names = [form.name for sought in all_sought for form in sought.forms]
    seen = session.look_in(contract.verification.acknowledgment.directory, names) if names else {}
    looked.unanswered = sum(isinstance(each, Unanswered) for each in seen.values())
    for sought in all_sought:
        looked.found += _Look(session, contract, sought, seen).found()
    return looked


class _Look:
    """One delivery's part of a look."""

    def __init__(self, session: Session, contract: Contract, sought: Sought, seen: Mapping[str, Sighting]) -> None:
        self._session = session
        self._contract = contract
        self._directory = contract.verification.acknowledgment.directory
        self._sought = sought
        self._seen = seen

    def found(self) -> Iterator[Found]:
        """Yield what was seen whole: a connection lost while a file is read leaves it to the next visit."""
        for form in self._sought.forms:
            found = self._by(form)
            if found is not None and (form.sign is Sign.TAKEN or not self._session.doubtful):
                yield found

    def _by(self, form: Form) -> Found | None:
        match form.sign, self._seen[form.name]:
            case Sign.LEFT, Present(regular=True) as seen:
                return self._left(form, seen)
            case Sign.MOVED, Present(regular=True) as seen if form.name not in self._sought.known:
                return self._moved(form, seen)
            case Sign.TAKEN, Absent():
                return self._found(form, mark="taken", words="the marker that went along with the file is gone")
            case _:
                return None

    def _left(self, form: Form, seen: Present) -> Found:
        """Return a file of the partner's own, with what it says where we may read it."""
        small = seen.size is None or seen.size <= MOST_BYTES
        content = self._session.fetch(self._directory, form.name, MOST_BYTES) if small else None
        if content is None:
            return self._found(form, mark=f"size {seen.size}", words=f"a file of {seen.size} bytes, not read")
        words = shown(content.strip(), MOST_WORDS)
        return self._found(form, mark=hashlib.sha256(content).hexdigest(), said=said_in(content), words=words)

    def _moved(self, form: Form, seen: Present) -> Found:
        """Return our own file under another name; one that still stands under the final name was not moved."""
        told = Present(seen.size, self._session.hash_in(self._directory, form.name))
        stays = isinstance(self._session.look(self._sought.final_name), Present)
        words = f"our file, of {seen.size} bytes, under another name" + (" and still under its own" if stays else "")
        return self._found(
            form, mark=told.sha256 or f"size {seen.size}", said=said_by(told), words=words, certain=not stays
        )

    def _found(self, form: Form, *, mark: str, said: Said = NOTHING, words: str = "", certain: bool = True) -> Found:
        ids = self._sought.job_id, self._sought.attempt_id
        return Found(*ids, self._contract, form, mark, said, words, certain)
