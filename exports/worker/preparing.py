"""Everything before the irreversible boundary: build, connect, look, authorize; or record why not.

Nothing here has left the process, so whatever ends it is settled by one conditional write: Stopped where a stop
was requested, Failed where it cannot go on, the lease given back where it is nobody's fault. An attempt that has
lost its lease, or cannot know, writes nothing to the row. The local file is deleted whatever ended it.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import TYPE_CHECKING, assert_never

from exports.crashpoints import reach
from exports.destinations.delivery import Order, check_name
from exports.destinations.protocol import ConnectTrouble, CouldNotConnect, Session
from exports.errors import BuildStopped, ExportBuildException
from exports.evidence import NotSent, NotSentReason, encode
from exports.holds.guards import objection
from exports.holds.opening import hold_guarded, hold_unreachable
from exports.holds.reading import was_let_go_on
from exports.observability import counters
from exports.states import Authorization, FailureReason
from exports.worker import partner
from exports.worker.builder import ExportFile, build
from exports.worker.delivering import order_of, status_of
from exports.worker.progress import Phase
from exports.worker.stop import StopWhy
from exports.worker.writes import Terminal

if TYPE_CHECKING:
    from exports.contracts import Contract
    from exports.worker.attempt import Attempt

logger = logging.getLogger(__name__)

ENDS_FROM_RUNNING = frozenset({FailureReason.FINAL_NAME_OCCUPIED, FailureReason.ORIGINAL_DELIVERED})
"""What an early look may conclude; nothing was sent, so the attempt ends from Running."""


@dataclass(frozen=True, slots=True)
class Prepared:
    """What cutoff 2 let pass: the file, the order to deliver it, and a session lent for it."""

    file: ExportFile
    order: Order
    borrowed: partner.Borrowed


def prepare(attempt: Attempt) -> Prepared | None:
    """Return the file and session only if cutoff 2 is confirmed; otherwise record why not, where it can."""
    file: ExportFile | None = None
    prepared: Prepared | None = None
    try:
        file = _build(attempt)
        reach("build.after")  # not sooner: until the file is known here nobody would delete it
        prepared = None if _held_back(attempt, file) else _authorized(attempt, file)
    except BuildStopped:
        _end_stopped(attempt, "while building")
    except ExportBuildException as error:
        attempt.writes.finish_failed(FailureReason.BUILD_FAILED, str(error))
    except CouldNotConnect as error:
        _give_back(attempt, error)
    finally:
        if prepared is None:
            attempt.lease.finish()
            if file is not None:
                file.delete()
    return prepared


def _build(attempt: Attempt) -> ExportFile:
    reach("build.before")
    attempt.tally.begin(Phase.BUILDING)
    with counters.phase_seconds.labels("build").time():
        file = build(
            job_id=attempt.job.id,
            attempt_id=attempt.writes.attempt_id,
            tenant_id=attempt.job.tenant_id,
            payload=attempt.contract.payload,
            stop=attempt.stop,
            progress=attempt.tally.built,
            using=attempt.worker.using,
        )
    attempt.tally.built(file.rows, file.bytes)
    counters.built_rows.inc(file.rows)
    counters.built_bytes.inc(file.bytes)
    logger.info("file_built", extra={"rows": file.rows, "bytes": file.bytes})
    return file


def _held_back(attempt: Attempt, file: ExportFile) -> bool:
    """Let a file that looks wrong wait for a person, unless one has let this version go on."""
    using = attempt.worker.using
    words = attempt.ask(lambda: objection(attempt.job, attempt.contract, file.rows, file.bytes, using))
    if words is None or attempt.ask(lambda: was_let_go_on(attempt.job, using)):
        return False
    hold_guarded(attempt.job, words, attempt.worker.worker_id, using)
    _return(attempt)
    return True


def _authorized(attempt: Attempt, file: ExportFile) -> Prepared | None:
    """Connect while a failure still costs nothing, then cross the boundary on that connection."""
    using = attempt.worker.using
    borrowed = attempt.ask(lambda: partner.connect(attempt.contract_id, attempt.contract, using))
    crossed = False
    try:
        order = attempt.ask(lambda: order_of(attempt, file))
        crossed = not _ended_early(attempt, order, borrowed.session) and _cross(attempt, file)
    finally:
        if not crossed:
            borrowed.give_back()
    return Prepared(file, order, borrowed) if crossed else None


def _ended_early(attempt: Attempt, order: Order, session: Session) -> bool:
    """End an attempt whose final name is taken while a stop request can still win."""
    found = check_name(session, order)
    if found is None:
        return False
    _, reason = status_of(found.conclusion)
    if reason not in ENDS_FROM_RUNNING:
        return False  # nothing certain yet: the look after cutoff 2 is the recorded one
    attempt.writes.finish_failed(reason, found.reason)
    return True


def _cross(attempt: Attempt, file: ExportFile) -> bool:
    """Cutoff 2, with one renewal and one retry for a lease that only lapsed."""
    if attempt.stop.is_set:
        raise BuildStopped
    word = _authorize(attempt, file)
    if word is Authorization.LEASE_LAPSED and attempt.lease.renew_now(attempt.worker.using):
        word = _authorize(attempt, file)
    match word:
        case Authorization.AUTHORIZED:
            logger.info("delivery_authorized")
            return True
        case Authorization.STOP_RECORDED:
            attempt.writes.finish_stopped("before delivery")
        case Authorization.ORIGINAL_COMPLETED:
            attempt.writes.finish_failed(FailureReason.ORIGINAL_DELIVERED, None)
        case Authorization.FROZEN:
            _return(attempt)
        case Authorization.LEASE_LAPSED | Authorization.NOT_OWNER | Authorization.UNKNOWN:
            # The row says which side of cutoff 2 this attempt is on, and recovery reads it.
            logger.warning("delivery_not_authorized", extra={"word": word})
        case never:
            assert_never(never)
    return False


def _authorize(attempt: Attempt, file: ExportFile) -> Authorization:
    return attempt.writes.authorize(file, attempt.final_name, lease_until=attempt.lease.current_until)


def _end_stopped(attempt: Attempt, stop_point: str) -> None:
    """Record the end that the signal's reason allows; a lost lease allows none."""
    match attempt.stop.why:
        case StopWhy.STOP_REQUESTED:
            attempt.writes.finish_stopped(stop_point)
        case StopWhy.DRAINING:
            _return(attempt)
        case StopWhy.LEASE_LOST | None:
            logger.info("attempt_stopped_without_write", extra={"why": attempt.stop.why})
        case never:
            assert_never(never)


def _give_back(attempt: Attempt, error: CouldNotConnect) -> None:
    """Nobody could be reached and nothing was sent: say so, and let recovery requeue it unburnt."""
    logger.warning("partner_not_reached", extra={"kind": error.kind, "words": error.words})
    attempt.writes.append(encode(NotSent(NotSentReason.COULD_NOT_CONNECT, error.words)))
    if error.kind is not ConnectTrouble.TOO_MANY_CONNECTIONS:  # our own bound says nothing about the partner
        words = _with_whom_to_call(error.words, attempt.contract)
        attempt.ask(lambda: hold_unreachable(attempt.job, words, attempt.worker.worker_id, attempt.worker.using))
    _return(attempt)


def _with_whom_to_call(words: str, contract: Contract) -> str:
    """Add the partner's technical contact, where the contract names one."""
    whom = contract.people.technical
    return f"{words} (at the partner: {whom})" if whom else words


def _return(attempt: Attempt) -> None:
    """Give the attempt back unburnt; with a stop request recorded it is stopped instead."""
    attempt.lease.finish()
    if attempt.writes.finish_stopped("before delivery") is not Terminal.APPLIED:
        attempt.writes.return_lease()
