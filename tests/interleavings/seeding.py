"""The rows of a starting state, written as the owner in one go, with everything an earlier schedule left removed.

Beside the family stand two bystanders that no statement is ever pointed at: one in the subject's own state, and
one whose outcome is unknown. A guard that forgets which row it is about reaches one of them.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from exports.states import EventKind, FailureReason, Status
from tests.interleavings.starting import AGAIN_FOR_FREE, Family
from tests.interleavings.world import ORIGINAL, OURS, THEIRS, Event, Job, Past, Woken, message_of, uid

if TYPE_CHECKING:
    from collections.abc import Iterable

DESTINATIONS = {"elsewhere": OURS, "first": OURS, "second": OURS, "disabled": OURS, "foreign": THEIRS}

BYSTANDERS = ("bystander", "other bystander")
_OWNER_OF = {
    "outbox": "job_id",
    "cancellation_requests": "job_id",
    "export_attempt_events": "job_id",
    "export_rejections": "job_id",
    "terms_changes": "job_id",
    "creation_requests": "job_id",
    "authorized_files": "job_id",
    "acknowledgments_seen": "job_id",
    "export_jobs": "id",
    "deliveries": "original_job_id",
    "interleavings.before": "id",
    "interleavings.outbox_before": "job_id",
}
"""Every table a schedule writes to, and its column that says of which export a row is."""

SCHEMA = f"""
CREATE SCHEMA interleavings;
CREATE TABLE interleavings.before (LIKE public.export_jobs);
CREATE TABLE interleavings.outbox_before (LIKE public.outbox);
CREATE TABLE interleavings.mark (last_event bigint, taken_at timestamptz);
INSERT INTO tenants (id, slug, name, is_active)
VALUES ('{uid(OURS)}', 'interleavings-ours', 'Ours', true), ('{uid(THEIRS)}', 'interleavings-theirs', 'Theirs', true);
INSERT INTO destinations (id, tenant_id, name, is_enabled) VALUES {
    ", ".join(
        f"('{uid(name)}', '{uid(tenant)}', '{name}', {name != 'disabled'})" for name, tenant in DESTINATIONS.items()
    )
};
"""
"""What stands for the whole run: tenants, destinations, and where the rows before a schedule are kept."""

CLEAR = "".join(f"DELETE FROM {table};" for table in ("holds", "interleavings.mark", *_OWNER_OF))
UNDO = f"""
{CLEAR}
DROP SCHEMA interleavings CASCADE;
DELETE FROM destinations WHERE id = ANY('{{{",".join(str(uid(name)) for name in DESTINATIONS)}}}');
DELETE FROM tenants WHERE slug LIKE 'interleavings-%';
"""
_THE_BYSTANDERS = " IN (" + ", ".join(f"'{uid(name)}'" for name in BYSTANDERS) + ")"
_CLEAR_FAMILY = "DELETE FROM holds; DELETE FROM interleavings.mark;" + "".join(
    f"DELETE FROM {table} WHERE {column} NOT{_THE_BYSTANDERS};" for table, column in _OWNER_OF.items()
)
_KEEP = """
INSERT INTO interleavings.before SELECT * FROM export_jobs WHERE id {of};
INSERT INTO interleavings.outbox_before SELECT * FROM outbox WHERE job_id {of};
"""
_MARK = "INSERT INTO interleavings.mark SELECT coalesce(max(id), 0), clock_timestamp() FROM export_attempt_events;"


def key_of(name: str) -> str:
    """Return the delivery key a job of this name has: its original's."""
    return f"key-{name}"


def click_of(job: Job, outcome: str) -> str:
    """Return the name of the click that brought a starting state about."""
    return f"{job.name} {outcome}"


def script(family: Family, function: str) -> str:
    """Return the definition of a function that leaves exactly this family and its bystanders in the database.

    A function, because the server then plans its statements once and not for every schedule. Bystanders that are
    known to stand there untouched are left as they are, unless it is asked to start afresh.
    """
    bystanders, relatives = "".join(_inserts(_bystanders(family))), "".join(_inserts(list(family.pasts)))
    body = (
        f"IF afresh THEN {CLEAR} {bystanders} {_KEEP.format(of=_THE_BYSTANDERS)} END IF;"
        f"{_CLEAR_FAMILY} {relatives} {_hold(family)} {_KEEP.format(of='NOT' + _THE_BYSTANDERS)} {_MARK}"
    )
    head = f"CREATE FUNCTION {function}(afresh boolean) RETURNS void LANGUAGE plpgsql"
    return f"{head} AS $rows$ BEGIN {body} END $rows$"


def _bystanders(family: Family) -> list[Past]:
    changes = {"original": None, "destination": "elsewhere", "version": 1}
    alike = replace(family.subject, edits=0).changed(woken=Woken.LATELY, **changes)
    if alike.job.reason is FailureReason.ORIGINAL_DELIVERED:  # only a replacement fails so
        alike = alike.changed(reason=FailureReason.BUILD_FAILED)
    other = AGAIN_FOR_FREE.authorized().finished(Status.OUTCOME_UNKNOWN).changed(woken=Woken.LONGEST_AGO)
    return [_renamed(past, name) for past, name in zip((alike, other), BYSTANDERS, strict=True)]


def _hold(family: Family) -> str:
    if family.hold.value is None:
        return ""
    cause, destination, tenant, version, ended, until, job = (*family.hold.value, None, None, None)[:7]
    job = (job or ORIGINAL) if version else None
    return _insert(
        "holds (id, cause, destination_id, tenant_id, job_id, version, ended_at, until, reason, created_by)",
        [
            (
                f"gen_random_uuid(), '{cause}', {_id(destination)}, {_id(tenant)}, {_id(job)}, {version or 'NULL'},"
                f" {'clock_timestamp()' if ended else 'NULL'},"
                f" clock_timestamp() + {_text(until)}::interval, 'because', 'user:anna'"
            )
        ],
    )


def _renamed(past: Past, name: str) -> Past:
    def attempt(old: str | None) -> str | None:
        return None if old is None else f"{name}.{old.rpartition('.')[2]}"

    events = tuple(replace(event, attempt=attempt(event.attempt) or "") for event in past.events)
    job = replace(past.job, name=name, attempt=attempt(past.job.attempt))
    return replace(past, job=job, events=events)


def _inserts(pasts: list[Past]) -> Iterable[str]:
    originals = [past.job for past in pasts if past.job.original is None]
    yield _insert("deliveries", (f"{_ours(job)}, '{key_of(job.name)}', '{uid(job.name)}'" for job in originals))
    yield _insert(f"export_jobs ({_JOB_COLUMNS})", (_job_row(past) for past in pasts))
    yield _insert(
        "export_attempt_events (job_id, attempt_id, kind, version, observed_by, detail, recorded_at)",
        (_event_row(past.job, number, event) for past in pasts for number, event in enumerate(past.events)),
    )
    yield _insert(f"cancellation_requests ({_CLICK_COLUMNS})", (row for past in pasts for row in _click_rows(past)))
    yield _insert(
        "creation_requests (job_id, tenant_id, requested_by, destination_id, replaces_job_id)",
        (
            f"'{uid(past.job.name)}', {_ours(past.job)}, 'client:crm', '{uid('first')}', {_id(past.job.original)}"
            for past in pasts
        ),
    )
    yield _insert(
        "terms_changes (job_id, version, from_destination_id, to_destination_id, changed_by)",
        (
            f"'{uid(past.job.name)}', {n + 2}, '{uid('first')}', '{uid('second')}', 'user:anna'"
            for past in pasts
            for n in range(past.edits)
        ),
    )
    yield _insert(
        "export_rejections (job_id, version, reasons)",
        (f"'{uid(past.job.name)}', {past.job.version}, '[]'" for past in pasts if past.job.status is Status.REJECTED),
    )
    yield _insert(f"outbox ({_WAKE_UP_COLUMNS})", (row for past in pasts for row in _wake_up_rows(past)))


def _insert(into: str, rows: Iterable[str]) -> str:
    values = ", ".join(f"({row})" for row in rows)
    return f"INSERT INTO {into} VALUES {values};" if values else ""


_JOB_COLUMNS = (
    "id, tenant_id, status, version, destination_id, attempt_id, attempt_count, claimed_by, lease_expires_at,"
    " stop_request_id, cancellation_request_id, expected_file_name, expected_file_bytes, expected_file_sha256,"
    " delivery_authorized_at, woken_at, failure_reason, delivery_key, replaces_job_id, created_by,"
    " replacement_reason, created_at"
)
_CLICK_COLUMNS = (
    "tenant_id, id, job_id, requested_by, outcome, found_status, found_attempt_id, found_attempt_count, recorded_at"
)
_WAKE_UP_COLUMNS = "message_id, kind, job_id, created_at, published_at"
_LONG_AGO = "clock_timestamp() - interval '1 day'"


def _ours(_: Job) -> str:
    return f"'{uid(OURS)}'"


def _id(name: str | None) -> str:
    return "NULL" if name is None else f"'{uid(name)}'"


def _text(value: str | None) -> str:
    return "NULL" if value is None else f"'{value}'"


def _moment(job: Job, number: int, kind: str) -> str:
    """Return when an event happened: originals first, then their corrections, then what replacements did."""
    hours = {"Corrected": 36}.get(kind, 72) if job.original is None else 24
    return f"date_trunc('day', clock_timestamp()) - interval '{hours} hours' + interval '{number} seconds'"


def _created(job: Job) -> str:
    hours = 96 if job.original is None else 48
    return f"date_trunc('day', clock_timestamp()) - interval '{hours} hours'"


def _job_row(past: Past) -> str:
    job = past.job
    worker = "'worker-0'" if job.attempt else "NULL"
    stop = _id(click_of(job, "StopRequested") if job.stop else None)
    canceled = _id(click_of(job, "CanceledWhileQueued") if job.status is Status.CANCELED else None)
    key = key_of(job.original or job.name)
    expected = (
        f"'contacts-{key}.csv', 10, '\\x00', {_authorized_at(past)}" if job.authorized else "NULL, NULL, NULL, NULL"
    )
    why = "'asked for'" if job.original else "NULL"
    return (
        f"'{uid(job.name)}', {_ours(job)}, '{job.status}', {job.version}, '{uid(job.destination)}',"
        f" {_id(job.attempt)}, {job.claims}, {worker}, {job.lease.value}, {stop}, {canceled}, {expected},"
        f" {job.woken.value}, {_text(job.reason)}, '{key}', {_id(job.original)}, 'client:crm', {why}, {_created(job)}"
    )


def _authorized_at(past: Past) -> str:
    kind = EventKind.DELIVERY_AUTHORIZED
    return _moment(past.job, next(n for n, event in enumerate(past.events) if event.kind is kind), kind)


def _event_row(job: Job, number: int, event: Event) -> str:
    detail = (
        f"contacts-{key_of(job.original or job.name)}.csv"
        if event.kind is EventKind.DELIVERY_AUTHORIZED
        else event.detail
    )
    version = "NULL" if event.version is None else event.version
    return (
        f"'{uid(job.name)}', '{uid(event.attempt)}', '{event.kind}', {version}, {_text(event.observed_by)},"
        f" {_text(detail)}, {_moment(job, number, event.kind)}"
    )


def _click_rows(past: Past) -> Iterable[str]:
    job = past.job
    for outcome, found in past.clicks:
        attempt = f"{job.name}.{job.claims}" if found == "Running" else None
        yield (
            f"{_ours(job)}, '{uid(click_of(job, outcome))}', '{uid(job.name)}', 'user:anna', '{outcome}', '{found}',"
            f" {_id(attempt)}, {job.claims}, {_LONG_AGO}"
        )


def _wake_up_rows(past: Past) -> Iterable[str]:
    job = past.job
    requeues = sum(event.kind == "RequeuedByRecovery" for event in past.events)
    for number in range(1 + requeues + past.edits):
        # The original's comes before a bystander's that has stood there for a while: a batch of one takes that.
        later = "1 second" if job.name == ORIGINAL else "1 hour"
        published = "clock_timestamp()" if past.is_published and job.name != "bystander" else "NULL"
        yield (
            f"'{uid(message_of(job.name, number))}', 'ExportReady', '{uid(job.name)}',"
            f" {job.woken.value} + interval '{later}', {published}"
        )
