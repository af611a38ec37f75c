"""Partners to test against: what each needs to be reached, and what it can do, in one small record."""

import hashlib
import os
import secrets
import uuid
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from exports.contracts import Contract
from exports.destinations.addresses import AddressPolicy
from exports.destinations.delivery import Append, Confirmation, Delivered, Order, deliver
from exports.destinations.protocol import Session, Surroundings, open_session
from exports.evidence import Evidence, ExpectedFile
from exports.secrets import Secret
from exports.verdicts import JobRole


@dataclass(frozen=True)
class Partner:
    """One destination under test. `root` is where its files lie on this machine, to look behind its answers."""

    name: str
    root: Path
    groups: dict[str, Any]
    secret: Secret = field(default_factory=Secret)
    surroundings: Surroundings = field(
        default_factory=lambda: Surroundings(AddressPolicy.allowing_private(), (Path("/"),))
    )
    overwrites: bool = True
    """Whether it offers an atomic overwriting form."""
    hashes: bool = False
    """Whether it can be asked for a SHA-256."""

    def contract(self, **groups: Any) -> Contract:
        """Return this partner's contract with some groups of fields merged in."""
        raw = {name: dict(group) if isinstance(group, dict) else group for name, group in self.groups.items()}
        for name, group in groups.items():
            raw[name] = {**raw.get(name, {}), **group} if isinstance(group, dict) else group
        return Contract.from_json(raw)

    def open(self, contract: Contract | None = None, secret: Secret | None = None) -> Session:
        """Open a session, under another contract or secret where one is given."""
        return open_session(contract or self.contract(), secret or self.secret, self.surroundings)

    def names(self) -> list[str]:
        """Return what lies at the partner."""
        return sorted(each.name for each in self.root.iterdir())


@dataclass(frozen=True)
class Export:
    """A local file to deliver and its expectation."""

    path: Path
    expected: ExpectedFile

    @property
    def content(self) -> bytes:
        """The bytes of the file."""
        return self.path.read_bytes()


def make_export(directory: Path, content: bytes | None = None, name: str | None = None) -> Export:
    """Write a local file of this content (some random bytes if none) with a final name of its own."""
    data = os.urandom(100_000) if content is None else content
    path = directory / f"{secrets.token_hex(8)}.export"
    path.write_bytes(data)
    final = name or f"contacts-{uuid.uuid4()}.csv"
    return Export(path, ExpectedFile(final, len(data), hashlib.sha256(data).hexdigest()))


def order_for(export: Export, contract: Contract, role: JobRole = JobRole.ORIGINAL, **more: Any) -> Order:
    """Return an order to deliver the file by a fresh attempt."""
    return Order(contract, str(uuid.uuid4()), export.path, export.expected, role, **more)


class History:
    """Keeps what was appended, and can refuse to confirm from some record on."""

    def __init__(self, refuse: type[Evidence] | None = None) -> None:
        self.records: list[Evidence] = []
        self._refuse = refuse

    def append(self, record: Evidence) -> Confirmation:
        """Keep a record; confirmed unless it is of the refused kind."""
        self.records.append(record)
        refused = self._refuse is not None and isinstance(record, self._refuse)
        return Confirmation.NOT_CONFIRMED if refused else Confirmation.CONFIRMED

    def of(self, kind: type[Any]) -> list[Any]:
        """Return the records of one kind."""
        return [record for record in self.records if isinstance(record, kind)]


def deliver_to(
    partner: Partner, export: Export, role: JobRole = JobRole.ORIGINAL, append: Append | None = None, **groups: Any
) -> Delivered:
    """Open a session, deliver, close."""
    contract = partner.contract(**groups)
    session = partner.open(contract)
    try:
        return deliver(session, order_for(export, contract, role), append or History().append)
    finally:
        session.close()
