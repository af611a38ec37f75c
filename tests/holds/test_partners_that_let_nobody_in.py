"""Partners that let nobody in: clear words for the operator, no attempt burnt, nothing sent, on real servers."""

from __future__ import annotations

import threading
import time
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from exports.conf import limits
from exports.models import DestinationSecret, ExportAttemptEvent, ExportJob, Hold
from exports.secrets import Secret, encrypt
from exports.states import HoldCause, Status
from reconciliation.recovery import run_once
from tests.destinations.conftest import loop, open_path
from tests.destinations.faulty import Step, faulty_server
from tests.destinations.gateway import Act, gateway
from tests.destinations.keyring import new_key, public_line
from tests.destinations.openssh import sshd
from tests.destinations.proftpd import proftpd
from tests.destinations.test_signing_in import certified, resigned
from tests.faults.waking import standing_at
from tests.faults.world import BY, World, a_world, evidence, kinds, now

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager
    from pathlib import Path

    from config.devstack.partner import PartnerAccount
    from tests.destinations.loops import LoopThread
    from tests.destinations.partners import Partner
    from tests.faults.waking import Waking

__all__ = ["loop", "open_path"]

pytestmark = [
    pytest.mark.django_db(transaction=True, databases=["default", "api", "worker"]),
    pytest.mark.usefixtures("spool"),
]

WORKERS = 5


def world_at(partner: Partner, account: PartnerAccount) -> World:
    """Make a tenant whose one destination is this server."""
    world = a_world(account)
    sealed = DestinationSecret.objects.create(
        destination=world.destination, ciphertext=encrypt(partner.secret, limits().credential_keys), created_by=BY
    )
    world.contract.terms = partner.contract(auth={"secret_id": str(sealed.id)}).to_json()
    world.contract.save()
    return replace(world, inbox=partner.root)


@contextmanager
def changed_host_key(_loop: LoopThread, place: Path) -> Iterator[Partner]:
    with sshd(place) as server:
        pinned = {"host_keys": [{"key": public_line(new_key())}]}
        yield replace(server.partner, groups=server.partner.groups | pinned)


@contextmanager
def wrong_password(loop: LoopThread, place: Path) -> Iterator[Partner]:
    place.mkdir()
    with faulty_server(loop, place) as make:
        yield replace(make(), secret=Secret(password="guessed"))


@contextmanager
def sha1_alone(_loop: LoopThread, place: Path) -> Iterator[Partner]:
    with sshd(place, "HostKeyAlgorithms ssh-rsa", host_key="ssh-rsa") as server:
        yield server.partner


@contextmanager
def expired_certificate(_loop: LoopThread, place: Path) -> Iterator[Partner]:
    place.mkdir()
    secret = resigned(place, certified(place, "-1d:+1d"))
    with sshd(place / "server", f"TrustedUserCAKeys {place}/ca.pub") as server:
        (server.directory / "authorized_keys").write_text("")
        auth = server.partner.groups["auth"] | {"method": "certificate"}
        yield replace(server.partner, groups=server.partner.groups | {"auth": auth}, secret=secret)


@pytest.mark.parametrize(
    "case",
    [
        (changed_host_key, "ask the partner"),
        (wrong_password, "refused"),
        (sha1_alone, ""),
        (expired_certificate, "expired"),
    ],
)
def test_a_partner_that_does_not_let_us_in_holds_the_destination_with_words_and_burns_nothing(
    case: tuple[Callable[[LoopThread, Path], AbstractContextManager[Partner]], str],
    loop: LoopThread,
    open_path: Path,
    waking: Waking,
    partner: PartnerAccount,
) -> None:
    server, words = case
    with server(loop, open_path / f"closed-{time.monotonic_ns()}") as closed:
        world = world_at(closed, partner)
        job = world.queued()
        waking.run(job)
        recover()
        hold = Hold.objects.get()
        assert (hold.cause, hold.destination_id) == (HoldCause.UNREACHABLE, world.destination.id)
        assert words in hold.reason
        assert words in evidence(job)[-1]
        assert (now(job).status, attempts_burnt(job)) == (Status.QUEUED, 0)
        assert closed.names() == []


def recover() -> None:
    run_once(100, time_budget_seconds=20, using="worker")


def attempts_burnt(job: ExportJob) -> int:
    """Count attempts the way recovery's cap does: those given back are none."""
    return now(job).attempt_count - kinds(job).count("RequeuedByRecovery")


def test_an_outcome_that_only_the_partner_can_know_says_whom_to_ask_there(
    loop: LoopThread, open_path: Path, waking: Waking, partner: PartnerAccount
) -> None:
    with sshd(open_path / f"ask-{time.monotonic_ns()}") as server, gateway(loop, server.partner) as before:
        cut, _passed = before(Step.PUBLISH, Act.DROP_BEFORE)
        world = world_at(
            replace(cut, groups=cut.groups | {"people": {"outcomes": "Grace, grace@example.org"}}), partner
        )
        job = world.queued()
        waking.run(job)
        assert now(job).status == Status.OUTCOME_UNKNOWN
        finished = ExportAttemptEvent.objects.get(job_id=job.id, kind="Finished")
        assert (finished.detail or "").endswith("(ask at the partner: Grace, grace@example.org)")
        assert world.arrived() == [f".{world.final(job).name}.{now(job).attempt_id}.part"]


def test_five_workers_at_a_server_that_takes_one_login_at_a_time_deliver_or_burn_nothing(
    open_path: Path, waking: Waking, partner: PartnerAccount
) -> None:
    with sshd(open_path / f"one-{time.monotonic_ns()}", "MaxStartups 1") as server:
        world = world_at(server.partner, partner)
        jobs = [world.queued() for _ in range(WORKERS)]
        for running in [waking.start(job) for job in jobs]:
            running.result(120)
        recover()
        delivered = [job for job in jobs if now(job).status == Status.COMPLETED]
        assert {now(job).status for job in jobs} <= {Status.COMPLETED, Status.QUEUED}
        assert delivered, "the first login is let in"
        assert all(attempts_burnt(job) == 0 for job in jobs if job not in delivered)
        assert world.arrived() == sorted(world.final(job).name for job in delivered)


def test_a_session_that_the_server_closes_during_a_long_build_is_replaced_before_anything_is_sent(
    open_path: Path, waking: Waking, partner: PartnerAccount
) -> None:
    with proftpd(open_path / f"idle-{time.monotonic_ns()}", "AllowOverwrite on", "TimeoutIdle 1") as server:
        world = world_at(server, partner)
        first, second = world.queued(), world.queued()
        waking.run(first)  # leaves its session in the pool
        with standing_at("build.after") as stand:
            running = waking.start(second)
            stand.wait()
            threading.Event().wait(3)  # the build takes longer than the server is patient
            stand.let_go()
            running.result(60)
        assert [now(job).status for job in (first, second)] == [Status.COMPLETED] * 2
        assert now(second).attempt_count == 1
