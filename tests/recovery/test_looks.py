"""Looks at partners delay nobody: a partner that hangs holds its own rows and nothing else."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from exports.contracts import Contract, Limits
from exports.secrets import new_key
from exports.states import Status
from exports.worker.partner import open_unpooled
from reconciliation import probe
from reconciliation.probe import Looks
from tests.faults.observing import until
from tests.recovery.lives import ALIASES, CONTENT, a_place, append, delivering, expire, now, running
from tests.recovery.partners import SilentPartner
from tests.recovery.running import recover
from tests.recovery.sessions import Background, session
from tests.recovery.test_resolving import about_to_publish, arrives

if TYPE_CHECKING:
    from collections.abc import Iterator

    from config.devstack.partner import PartnerAccount
    from exports.destinations.protocol import Session
    from tests.recovery.lives import Place

pytestmark = pytest.mark.django_db(transaction=True, databases=ALIASES)

LONG = Limits(connect_timeout_seconds=300)
"""A partner that may take five minutes to greet: far longer than any run waits."""


@pytest.fixture
def silent() -> Iterator[SilentPartner]:
    with SilentPartner() as partner:
        yield partner


@pytest.fixture
def hanging(silent: SilentPartner, settings: Any, monkeypatch: pytest.MonkeyPatch) -> Place:
    """Give a destination at a partner that never answers, and runs with little patience."""
    monkeypatch.setattr(probe, "PATIENCE_SECONDS", 1.0)
    monkeypatch.setattr("reconciliation.recovery.PATIENCE_SECONDS", 1.0)
    return place_at(silent, settings)


def place_at(partner: SilentPartner, settings: Any) -> Place:
    key = new_key()
    keys = (key, *settings.EXPORTS.credential_keys)
    settings.EXPORTS = replace(settings.EXPORTS, credential_keys=keys, allow_private_destinations=True)
    return a_place(sealed_under=key, port=partner.port, limits=LONG)


def test_a_partner_that_hangs_delays_no_other_row(
    reachable: Place, partner: PartnerAccount, hanging: Place, silent: SilentPartner, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("reconciliation.recovery.PATIENCE_SECONDS", 300.0)  # it hangs until it is let go below
    stuck, *others = delivering(hanging), delivering(reachable), running(reachable)
    append(others[0], *about_to_publish(others[0]))
    arrives(partner, others[0])
    expire(stuck, seconds=60)
    expire(*others)

    recovering = Background(recover)
    until(lambda: [now(job.id).status for job in others] == [Status.COMPLETED, Status.QUEUED])
    assert recovering.is_running  # the one that was asked first is still waited for
    silent.hang_up()
    recovered = recovering.result()

    assert (recovered.completed, recovered.requeued, recovered.waiting) == (1, 1, 1)
    assert now(stuck.id).status == Status.DELIVERING


def test_a_look_that_still_hangs_is_not_asked_again_and_not_waited_for_again(
    hanging: Place, silent: SilentPartner
) -> None:
    job, looks = delivering(hanging), Looks("worker")
    expire(job)
    recover(looks=looks)

    began = time.monotonic()
    recovered = recover(looks=looks)

    assert recovered.waiting == 1
    assert time.monotonic() - began < 1
    assert len(silent.connections) == 1


def test_past_the_bound_a_look_that_still_hangs_leaves_the_outcome_unknown(hanging: Place) -> None:
    job = delivering(hanging)
    expire(job, seconds=10_000)

    assert recover().outcome_unknown == 1
    assert now(job.id).status == Status.OUTCOME_UNKNOWN


def test_an_answer_that_comes_late_serves_the_next_run(hanging: Place, silent: SilentPartner) -> None:
    job, looks = delivering(hanging), Looks("worker")
    expire(job)
    recover(looks=looks)

    silent.hang_up()
    answered = looks.take({job.attempt_id}, time.monotonic() + 10)  # type: ignore[arg-type] # it is claimed

    assert list(answered) == [job.attempt_id]


def test_no_session_waits_in_a_transaction_while_a_partner_is_looked_at(hanging: Place, silent: SilentPartner) -> None:
    job = delivering(hanging)
    expire(job)
    recovering = Background(recover)
    assert silent.called.wait(10)

    with session("default") as owner:
        open_transactions = owner.execute(
            "SELECT state FROM pg_stat_activity WHERE usename = 'exports_worker' AND xact_start IS NOT NULL"
        ).fetchall()

    assert open_transactions == []
    assert recovering.result().waiting == 1


def test_a_destination_that_gives_no_answer_twice_is_asked_no_more_in_that_run(settings: Any) -> None:
    with SilentPartner(hangs_up=True) as partner:
        place = place_at(partner, settings)
        jobs = [delivering(place) for _ in range(5)]
        expire(*jobs, seconds=10_000)

        assert recover().outcome_unknown == len(jobs)
        assert len(partner.connections) == probe.GIVE_UP_AFTER


def test_a_destination_is_asked_about_all_its_rows_over_one_session(
    reachable: Place, partner: PartnerAccount, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened = []

    def counted(contract: Contract, using: str) -> Session:
        opened.append(contract)
        return open_unpooled(contract, using)

    monkeypatch.setattr(probe, "open_unpooled", counted)
    jobs = [delivering(reachable) for _ in range(8)]
    for job in jobs:
        append(job, *about_to_publish(job))
        arrives(partner, job, CONTENT)
    expire(*jobs)

    assert recover().completed == len(jobs)
    assert len(opened) == 1
