"""Pooled connections: never more than allowed, checked before reuse, dropped after doubt."""

import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from exports.destinations.pool import Pool, Pools
from exports.destinations.protocol import ConnectTrouble, CouldNotConnect, Session
from tests.destinations.faulty import Fault, Step, faulty_server
from tests.destinations.loops import LoopThread
from tests.destinations.partners import Partner

WAIT_SECONDS = 5.0


@pytest.fixture
def partner(loop: LoopThread, tmp_path: Path) -> Iterator[Callable[..., Partner]]:
    root = tmp_path / "root"
    root.mkdir()
    with faulty_server(loop, root) as make:
        yield make


class Counted:
    """Opens real sessions and remembers them."""

    def __init__(self, partner: Partner) -> None:
        self._partner = partner
        self.opened: list[Session] = []

    def __call__(self) -> Session:
        session = self._partner.open()
        self.opened.append(session)
        return session


def test_a_session_is_used_again(partner: Callable[..., Partner]) -> None:
    opener, pool = Counted(partner()), Pool(2)
    for _ in range(3):
        with pool.session(opener, WAIT_SECONDS) as session:
            session.look("x.csv")
    assert len(opener.opened) == 1
    pool.close()
    assert opener.opened[0].doubtful


def test_two_at_once_get_two_sessions_and_a_third_waits_in_vain(partner: Callable[..., Partner]) -> None:
    opener, pool = Counted(partner()), Pool(2)
    with pool.session(opener, WAIT_SECONDS), pool.session(opener, WAIT_SECONDS):
        with pytest.raises(CouldNotConnect) as caught, pool.session(opener, 0.05):
            pass
        assert pool.in_use == 2
    assert caught.value.kind is ConnectTrouble.TOO_MANY_CONNECTIONS
    assert len(opener.opened) == 2
    pool.close()


def test_who_waits_gets_the_session_that_comes_back(partner: Callable[..., Partner]) -> None:
    opener, pool = Counted(partner()), Pool(1)
    got: list[Session] = []

    def wait_for_one() -> None:
        with pool.session(opener, WAIT_SECONDS) as session:
            got.append(session)

    waiter = threading.Thread(target=wait_for_one)
    with pool.session(opener, WAIT_SECONDS):
        waiter.start()
    waiter.join(10)
    assert got == opener.opened
    pool.close()


def test_a_session_in_doubt_is_closed_and_not_used_again(partner: Callable[..., Partner]) -> None:
    opener, pool = Counted(partner(Step.LOOK, Fault.DROP_BEFORE)), Pool(1)
    for _ in range(2):
        with pool.session(opener, WAIT_SECONDS) as session:
            session.look("x.csv")
            assert session.doubtful
    assert len(opener.opened) == 2


def test_a_session_that_died_while_it_was_kept_is_replaced_before_use(partner: Callable[..., Partner]) -> None:
    opener, pool = Counted(partner()), Pool(1)
    with pool.session(opener, WAIT_SECONDS):
        pass
    opener.opened[0].close()
    with pool.session(opener, WAIT_SECONDS) as session:
        assert session.healthy()
    assert len(opener.opened) == 2
    pool.close()


def test_a_failed_opening_gives_its_place_back(partner: Callable[..., Partner]) -> None:
    pool = Pool(1)

    def fail() -> Session:
        raise CouldNotConnect(ConnectTrouble.TIMEOUT, "away")

    for _ in range(3):
        with pytest.raises(CouldNotConnect), pool.session(fail, 0.05):
            pass
    with pool.session(Counted(partner()), WAIT_SECONDS) as session:
        assert session.healthy()
    pool.close()


def test_a_crash_while_using_a_session_gives_its_place_back(partner: Callable[..., Partner]) -> None:
    opener, pool = Counted(partner()), Pool(1)
    with pytest.raises(ZeroDivisionError), pool.session(opener, WAIT_SECONDS):
        raise ZeroDivisionError
    assert pool.in_use == 0
    pool.close()


def test_sessions_that_nobody_uses_are_closed_after_their_time(partner: Callable[..., Partner]) -> None:
    opener, pool = Counted(partner()), Pool(1, idle_seconds=0.0)
    with pool.session(opener, WAIT_SECONDS):
        pass
    assert pool.close_idle() == 1
    assert opener.opened[0].doubtful
    patient = Pool(1, idle_seconds=3_600)
    with patient.session(opener, WAIT_SECONDS):
        pass
    assert patient.close_idle() == 0
    patient.close()


def test_a_deadline_of_one_attempt_does_not_follow_the_session_to_the_next(partner: Callable[..., Partner]) -> None:
    opener, pool = Counted(partner()), Pool(1)
    with pool.session(opener, WAIT_SECONDS) as session:
        session.set_deadline(0.5)
    threading.Event().wait(0.8)  # past the first attempt's deadline
    with pool.session(opener, WAIT_SECONDS) as session:
        assert session.healthy()
    assert len(opener.opened) == 1
    pool.close()


def test_each_contract_version_has_a_pool_of_its_own(partner: Callable[..., Partner]) -> None:
    pools = Pools()
    assert pools.pool(("a", 1), 2) is pools.pool(("a", 1), 2)
    assert pools.pool(("a", 2), 2) is not pools.pool(("a", 1), 2)
    opener = Counted(partner())
    with pools.pool(("a", 1), 2).session(opener, WAIT_SECONDS):
        pass
    assert pools.close_idle() == 0
    pools.close()
    assert opener.opened[0].doubtful
