"""The exports the demo runs, each made to show one outcome. A new one is a new entry in SAMPLES."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from config.devstack.demo.plan import ACCOUNT_OF, AD_PLATFORM, CLIENT_OF, FORMER_PARTNER, MAILING_HOUSE

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from config.devstack.demo.api import Api

Row = dict[str, Any]


@dataclass(frozen=True)
class Scene:
    """What a sample is made with: the API by tenant, the seeded destinations, the partner's directories."""

    apis: dict[str, Api]
    destination_ids: dict[str, str]
    partner_files: Path

    def files_at(self, destination: str) -> dict[str, Path]:
        """Return what lies in a destination's directory at the partner, by name."""
        return {file.name: file for file in (self.partner_files / ACCOUNT_OF[destination]).iterdir()}


@dataclass(frozen=True)
class Sample:
    """One export: how it is made, the status it must reach, and what must then lie at the partner.

    `judge` gets the final row and the partner's files before and after; it returns what it saw and raises
    Mismatch if that is not what the sample is made to show.
    """

    name: str
    tenant: str
    destination: str
    status: str
    judge: Callable[[Row, dict[str, Path], dict[str, Path]], str]
    within_seconds: float = 60  # the first export of a process takes two or three

    def make(self, scene: Scene) -> Row:
        """Ask for the export over REST; return its row."""
        return scene.apis[CLIENT_OF[self.tenant]].create(scene.destination_ids[self.destination])


class Mismatch(Exception):  # noqa: N818 - a finding of the demo, shown in its table
    """What was found is not what the sample is made to show."""


def exactly_one_file_with_the_recorded_hash(row: Row, before: dict[str, Path], after: dict[str, Path]) -> str:
    """Demand that nothing came but the file of the row, and that its bytes are those recorded at cutoff 2."""
    came = sorted(after.keys() - before.keys())
    if came != [row["expected_file_name"]]:
        raise Mismatch(f"expected {row['expected_file_name']} at the partner, found {came or 'nothing'}")
    content = after[came[0]].read_bytes()
    found = hashlib.sha256(content).hexdigest()
    if (found, len(content)) != (row["expected_file_sha256"], row["expected_file_bytes"]):
        raise Mismatch(f"the file at the partner is not the one recorded: SHA-256 {found}, {len(content)} bytes")
    return f"{came[0]}, {len(content):,} bytes, SHA-256 {found[:16]}… as recorded"


def nothing_sent(_row: Row, before: dict[str, Path], after: dict[str, Path]) -> str:
    """Demand that nothing came."""
    if came := sorted(after.keys() - before.keys()):
        raise Mismatch(f"nothing should have been sent, found {came}")
    return "nothing was sent"


SAMPLES: tuple[Sample, ...] = (
    Sample(
        "contacts to a mailing house, signed in by password",
        "nordwind",
        MAILING_HOUSE,
        "Completed",
        exactly_one_file_with_the_recorded_hash,
    ),
    Sample(
        "another tenant, chosen columns, signed in by key",
        "sonnenhof",
        AD_PLATFORM,
        "Completed",
        exactly_one_file_with_the_recorded_hash,
    ),
    Sample(
        "to a partner whose destination is disabled",
        "nordwind",
        FORMER_PARTNER,
        "Rejected",
        nothing_sent,
    ),
)
