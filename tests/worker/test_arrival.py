"""What stands at the partner is what the database holds, to the byte, for 100,000 awkward contacts."""

from __future__ import annotations

import csv
import hashlib
import io
from typing import TYPE_CHECKING

import pytest

from exports.states import Status
from tests.faults.fixtures import spool, waking
from tests.faults.world import a_world, now
from tests.worker.contacts import COLUMNS, awkward_rows, csv_file, load

if TYPE_CHECKING:
    from config.devstack.partner import PartnerAccount
    from tests.faults.waking import Waking

__all__ = ["spool", "waking"]

pytestmark = pytest.mark.django_db(transaction=True, databases=["default", "api", "worker"])


@pytest.mark.usefixtures("spool")
def test_a_hundred_thousand_awkward_contacts_arrive_byte_exact_and_python_reads_back_equal_ones(
    waking: Waking, partner: PartnerAccount
) -> None:
    world = a_world(partner, contacts=0)
    rows = list(awkward_rows(100_000))
    load(world.tenant, rows)
    job = world.queued()
    waking.run(job)
    done = now(job)
    content = world.final(job).read_bytes()
    assert done.status == Status.COMPLETED
    assert world.arrived() == [world.final(job).name]
    assert hashlib.sha256(content).digest() == bytes(done.expected_file_sha256 or b"")
    assert content == csv_file(rows).encode()
    assert list(csv.reader(io.StringIO(content.decode(), newline="")))[1:] == [list(row) for row in rows]
    assert len(rows[0]) == len(COLUMNS)
