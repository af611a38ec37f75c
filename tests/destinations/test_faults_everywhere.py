"""Every fault at every request of a delivery, before real servers: what is concluded, recorded and left there.

The gateway fails at exactly one request; the server behind is real. The embedded partner and OpenSSH in every run;
`make soak` takes every server, every form of publishing and both ends of the window, and says how many that were.
"""

import itertools
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from config.devstack.stack import Stack
from exports.destinations.delivery import Delivered
from exports.evidence import Absent, Conclusion, Outcome, ProbeSighting, PublishSent
from exports.secrets import Secret
from exports.verdicts import Asker, Case, judge
from tests.destinations.faulty import Step
from tests.destinations.gateway import HAPPENS, Act, Passed, gateway
from tests.destinations.loops import LoopThread
from tests.destinations.openssh import sshd
from tests.destinations.partners import Export, Partner, deliver_to, make_export
from tests.destinations.proftpd import proftpd
from tests.destinations.watcher import Seen, watching
from tests.summary import TALLY

DEADLINE_SECONDS = 15
LIMITS = {"attempt_deadline_seconds": DEADLINE_SECONDS, "idle_timeout_seconds": 1, "connect_timeout_seconds": 40}
BEFORE_PUBLISH = (Step.LOOK, Step.OPEN, Step.WRITE, Step.FSYNC, Step.CLOSE, Step.VERIFY)
MODES: dict[str, dict[str, Any]] = {
    "hardlink_remove": {},
    "rename_noreplace": {"publish": {"mode": "rename_noreplace", "probed": {"rename_refuses_existing": True}}},
    "direct_write": {"publish": {"mode": "direct_write", "probed": {"exclusive_create_refuses": True}}},
}
WINDOWS = (1, 64)
FAULTS = list(itertools.product(Step, Act))

Made = Callable[[Step | None, Act | None], tuple[Partner, Passed]]


@contextmanager
def embedded(stack: Stack, path: Path) -> Iterator[Partner]:
    account = stack.partner.add_account(path.name.replace("_", "-"))
    groups = {
        "endpoint": {"host": account.host, "port": account.port},
        "auth": {"user": account.username, "secret_id": "test"},
        "host_keys": [{"key": account.host_key}],
        "paths": {"directory": "/"},
    }
    yield Partner("embedded", account.directory, groups, Secret(password=account.password))


@contextmanager
def openssh(_stack: Stack, path: Path) -> Iterator[Partner]:
    # Behind the gateway each delivery signs in anew; a server that counts sign-ins would slow them down.
    with sshd(path, "MaxStartups 100") as server:
        yield server.partner


@contextmanager
def ftpd(_stack: Stack, path: Path) -> Iterator[Partner]:
    with proftpd(path) as partner:
        yield partner


SERVERS: dict[str, Callable[[Stack, Path], AbstractContextManager[Partner]]] = {
    "embedded": embedded,
    "openssh": openssh,
    "proftpd": ftpd,
}


@pytest.fixture(scope="module", params=["embedded", "openssh", pytest.param("proftpd", marks=pytest.mark.soak)])
def made(request: pytest.FixtureRequest, loop: LoopThread, stack: Stack, open_path: Path) -> Iterator[Made]:
    """Return what makes a partner behind the gateway, before one server of each kind."""
    place = open_path / f"everywhere-{request.param}-{time.monotonic_ns()}"
    with SERVERS[request.param](stack, place) as behind, gateway(loop, behind) as partner:
        yield partner


@dataclass(frozen=True)
class Ended:
    """One delivery under a fault."""

    step: Step
    act: Act
    delivered: Delivered
    export: Export
    partner: Partner
    window: int
    passed: Passed
    seen: Seen
    seconds: float

    @property
    def conclusion(self) -> Conclusion:
        return self.delivered.verdict.conclusion

    @property
    def final(self) -> Path:
        return self.partner.root / self.export.expected.name

    @property
    def was_reached(self) -> bool:
        """Whether the request to fail at was made at all; some forms of publishing have no use for it."""
        return self.passed.requests[self.step] >= (2 if self.step is Step.WRITE else 1)

    def __str__(self) -> str:
        return f"{self.act} at {self.step}: {self.delivered.verdict}, {self.passed.requests}, {self.partner.names()}"


def run(made: Made, step: Step, act: Act, directory: Path, window: int = 64, **groups: Any) -> Ended:
    """Deliver under one fault."""
    partner, passed = made(step, act)
    export = make_export(directory)
    began = time.monotonic()
    with watching(partner.root) as seen:
        limits = LIMITS | {"max_outstanding_writes": window}
        delivered = deliver_to(partner, export, limits=limits, **groups)
    return Ended(step, act, delivered, export, partner, window, passed, seen, time.monotonic() - began)


def expected(step: Step, act: Act, window: int) -> Conclusion:
    """Return what this fault must come to where a link or a rename publishes.

    An answer that comes after the next one's never comes where nothing else is unanswered.
    """
    if act is Act.LATE and step is Step.WRITE and window > 1:
        return Conclusion.COMPLETED
    if step in BEFORE_PUBLISH or (step is Step.PUBLISH and act is Act.ERROR):
        return Conclusion.NOT_DELIVERED
    return Conclusion.COMPLETED if step is Step.REMOVE else Conclusion.OUTCOME_UNKNOWN


def check(ended: Ended) -> None:
    """Check what holds whatever the fault, the server and the form of publishing are."""
    name = ended.export.expected.name
    assert ended.seconds < DEADLINE_SECONDS + 5, ended
    assert ended.passed.connections == 1, ended
    assert ended.passed.requests[Step.OPEN] <= 1, ended
    assert ended.passed.requests[Step.PUBLISH] <= 1, ended
    assert ended.seen.appearances(name) <= 1, ended
    announced = [each for each in ended.delivered.evidence if isinstance(each, PublishSent)]
    assert len(announced) <= 1, ended
    assert ended.passed.requests[Step.PUBLISH] <= len(announced), ended
    (outcome,) = [each for each in ended.delivered.evidence if isinstance(each, Outcome)]
    assert outcome.conclusion is ended.conclusion, ended
    if ended.conclusion is Conclusion.COMPLETED:
        assert ended.final.read_bytes() == ended.export.content, ended
    if ended.conclusion is Conclusion.NOT_DELIVERED:
        assert not ended.final.exists(), ended


def check_atomic(ended: Ended) -> None:
    """Check what holds beside where a link or a rename publishes: the final name has its whole content or is absent."""
    assert ended.seen.written_in_place(ended.export.expected.name) == [], ended
    assert not ended.final.exists() or ended.final.read_bytes() == ended.export.content, ended
    if ended.was_reached:
        assert ended.conclusion is expected(ended.step, ended.act, ended.window), ended
    if ended.was_reached and ended.step is Step.PUBLISH:
        assert ended.final.exists() is (ended.act in HAPPENS), ended


def settle_later(ended: Ended, made: Made) -> None:
    """Look again without a fault, as recovery does: what arrived is Completed by that, what did not is not sent."""
    partner, passed = made(None, None)
    session = partner.open()
    seen = ProbeSighting(session.look(ended.export.expected.name), "recovery")
    session.close()
    case = Case(partner.contract(), ended.export.expected, (*ended.delivered.evidence, seen))
    verdict = judge(case, Asker.RECOVERY)
    # A publish that was refused and yet shows a file of our size needs more than a look: a hash or an acknowledgment.
    contradicts = (ended.step, ended.act) == (Step.PUBLISH, Act.ERROR_AFTER)
    completes = ended.final.exists() and not contradicts
    assert (verdict.conclusion is Conclusion.COMPLETED) is completes, (ended, verdict)
    assert (seen.sighting == Absent()) is not ended.final.exists(), ended
    assert passed.requests[Step.OPEN] == passed.requests[Step.PUBLISH] == 0


@pytest.mark.parametrize(("step", "act"), FAULTS)
def test_a_fault_at_a_request_ends_as_the_evidence_allows_and_nothing_is_sent_twice(
    made: Made, step: Step, act: Act, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    ended = run(made, step, act, tmp_path)
    check(ended)
    check_atomic(ended)
    if ended.conclusion is Conclusion.OUTCOME_UNKNOWN:
        settle_later(ended, made)
    count(request, ended)


@pytest.mark.soak
@pytest.mark.parametrize("form", list(itertools.product(MODES, WINDOWS)), ids=lambda form: f"{form[0]}-{form[1]}")
@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: f"{fault[0]}-{fault[1]}")
def test_the_whole_product_of_servers_forms_windows_requests_and_faults(
    made: Made, form: tuple[str, int], fault: tuple[Step, Act], tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    (mode, window), (step, act) = form, fault
    ended = run(made, step, act, tmp_path, window, **MODES[mode])
    check(ended)
    if mode != "direct_write":
        check_atomic(ended)
    elif ended.passed.requests[Step.OPEN] and ended.conclusion is Conclusion.NOT_DELIVERED:
        assert (step, act) == (Step.OPEN, Act.ERROR), ended
    count(request, ended)


def count(request: pytest.FixtureRequest, ended: Ended) -> None:
    """Count for the summary."""
    words = f"faults at requests of a delivery: {ended.partner.name}"
    request.config.stash.setdefault(TALLY, []).append({words: 1})


def test_without_a_fault_the_gateway_is_not_noticed(made: Made, tmp_path: Path) -> None:
    partner, passed = made(None, None)
    assert deliver_to(partner, make_export(tmp_path), limits=LIMITS).verdict.conclusion is Conclusion.COMPLETED
    assert passed.requests[Step.PUBLISH] == passed.requests[Step.REMOVE] == 1
    assert set(passed.requests) == set(Step)
