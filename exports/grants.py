"""Who may do what to which table, stated once (I7, I10): least privilege, column by column where it is writing.

A role's rights are what its statements and its processes need and nothing more. The owner has everything by
owning it; nobody else may TRUNCATE, and no table is granted to PUBLIC. What is stated here is applied after
every migration and by provision_roles, and compared with the catalogue by exports.catalogue.
"""

from __future__ import annotations

from enum import StrEnum
from itertools import chain

from exports.states import Role


class Verb(StrEnum):
    """A privilege on a table; those not listed (TRUNCATE, REFERENCES, TRIGGER, MAINTAIN) are the owner's."""

    SELECT = "SELECT"
    INSERT = "INSERT"
    UPDATE = "UPDATE"
    DELETE = "DELETE"


Columns = tuple[str, ...]
Rights = dict[Verb, Columns]
WHOLE: Columns = ()
"""The privilege on the table as a whole: present and future columns."""

READ: Rights = {Verb.SELECT: WHOLE}
EDIT: Rights = {Verb.SELECT: WHOLE, Verb.INSERT: WHOLE, Verb.UPDATE: WHOLE, Verb.DELETE: WHOLE}


def _read_and(insert: str = "", update: str = "", *, delete: bool = False) -> Rights:
    """Return SELECT on the table, and writing of the columns named, separated by spaces."""
    written = {Verb.INSERT: tuple(insert.split()), Verb.UPDATE: tuple(update.split())}
    rights = READ | {verb: columns for verb, columns in written.items() if columns}
    return rights | {Verb.DELETE: WHOLE} if delete else rights


def _read_only(columns: str) -> Rights:
    return {Verb.SELECT: tuple(columns.split())}


_SCHEMA_STATE: dict[str, Rights] = {"django_migrations": READ}
"""Every process may see which migrations ran: one that finds the tables of another release refuses to start."""

_HEARTBEAT = {"process_heartbeats": _read_and("process_id role started_at seen_at", "role started_at seen_at")}

_EVENT_COLUMNS = "job_id attempt_id kind observed_by detail recorded_at"
_WAKE_UP_COLUMNS = "message_id kind job_id tenant_id created_at"
_HOLD_COLUMNS = (
    "id tenant_id destination_id job_id version cause reason created_by created_at until"
    " ended_at ended_by ended_reason released_at"
)
_HOLD_ENDS = "until ended_at ended_by ended_reason released_at"
_CONTACT_FIELDS = "email given_name family_name phone company country notes"

_SIGN_IN: dict[str, Rights] = {
    # A person is deactivated, never deleted: created_by and the history name them for good.
    "auth_user": _read_and(
        "password last_login is_superuser username first_name last_name email is_staff is_active date_joined",
        "password last_login is_superuser username first_name last_name email is_staff is_active date_joined",
    ),
    "auth_user_groups": _read_and("user_id group_id", delete=True),
    "auth_user_user_permissions": _read_and("user_id permission_id", delete=True),
    # What a group may do is decided in a release, by a migration.
    "auth_group": READ,
    "auth_group_permissions": READ,
    "auth_permission": READ,
    "django_content_type": READ,
    "django_session": EDIT,
    "django_admin_log": _read_and(
        "action_time object_id object_repr action_flag change_message content_type_id user_id"
    ),
    "knox_authtoken": EDIT,
    # Failed sign-ins are counted, and forgotten after a while or when somebody is let in again.
    "axes_accessattempt": EDIT,
    "axes_accessattemptexpiration": EDIT,
    "otp_totp_totpdevice": EDIT,
}
"""The tables of Django and its libraries, for the console's sign-in and the API's tokens."""

_API: dict[str, Rights] = {
    "export_jobs": _read_and(
        "id tenant_id status version destination_id delivery_key replaces_job_id created_by"
        " replacement_reason overwrite_agreement_ref woken_at",
        "status version destination_id woken_at stop_request_id cancellation_request_id",
    ),
    "deliveries": _read_and("tenant_id delivery_key original_job_id"),
    "export_attempt_events": READ,
    "cancellation_requests": _read_and(
        "tenant_id id job_id requested_by reason outcome found_status found_attempt_id"
        " found_attempt_count found_delivery_authorized_at"
    ),
    "outbox": _read_and(_WAKE_UP_COLUMNS),
    "creation_requests": _read_and("job_id tenant_id requested_by destination_id replaces_job_id"),
    "terms_changes": _read_and("job_id version from_destination_id to_destination_id changed_by reason"),
    "export_rejections": READ,
    "destination_contracts": _read_and("id destination_id version terms reason created_by created_at"),
    "contract_decisions": _read_and("contract_id decision proposed_by decided_by is_one_person reason"),
    # The console seals a credential and can never read it back.
    "destination_secrets": _read_only("id destination_id created_by created_at")
    | {Verb.INSERT: ("id", "destination_id", "ciphertext", "created_by", "created_at")},
    "overwrite_agreements": _read_and(
        "ref tenant_id destination_id agreed_by agreed_at under_contract recorded_by recorded_at"
    ),
    "authorized_files": READ,
    "holds": _read_and(_HOLD_COLUMNS, _HOLD_ENDS),
    "attempt_progress": READ,
    "hourly_sums": READ,
    "probe_requests": _read_and("id destination_id contract_id requested_by requested_at"),
    "probe_runs": READ,
    "probe_results": READ,
    # A destination never changes its tenant: exports that name it would change theirs.
    "destinations": _read_and("id tenant_id name is_enabled active_contract_id", "name is_enabled active_contract_id"),
    "tenants": _read_and("id slug name is_active", "slug name is_active"),
    "memberships": _read_and("user_id tenant_id", delete=True),
    # A client's name stands in the history; it is never changed, never freed.
    "api_clients": _read_and("name user_id person_id", "person_id"),
    # import_contacts runs as this role; it updates what it finds under the CRM's own key.
    "contacts": _read_and(f"tenant_id external_id {_CONTACT_FIELDS}", _CONTACT_FIELDS),
    **_SIGN_IN,
    **_HEARTBEAT,
}

_WORKER: dict[str, Rights] = {
    "export_jobs": _read_and(
        update="status attempt_id attempt_count claimed_by lease_expires_at expected_file_name"
        " expected_file_bytes expected_file_sha256 delivery_authorized_at woken_at failure_reason sweep_count"
    ),
    "deliveries": READ,
    "export_attempt_events": _read_and(f"{_EVENT_COLUMNS} version worker_id"),
    "cancellation_requests": READ,
    "outbox": _read_and(_WAKE_UP_COLUMNS),
    "export_rejections": _read_and("job_id version reasons"),
    "destination_contracts": READ,
    "destination_secrets": READ,
    "overwrite_agreements": READ,
    # A worker holds a destination that cannot be reached; the one on `maintenance` ends holds that are due.
    "authorized_files": _read_and("attempt_id job_id rows"),
    "holds": _read_and(_HOLD_COLUMNS, _HOLD_ENDS),
    "attempt_progress": EDIT,
    "hourly_sums": _read_and("hour tenant_id what count", "count", delete=True),
    # A person asks for a probe; only a worker can say that it took one, and what was found.
    "probe_requests": READ,
    "probe_runs": _read_and("request_id worker_id began_at"),
    "probe_results": _read_and("request_id worker_id server host_key proposed_mode report finished_at"),
    "destinations": READ,
    "tenants": READ,
    "contacts": READ,
    "process_heartbeats": _HEARTBEAT["process_heartbeats"] | {Verb.DELETE: WHOLE},  # the scavenger's
}

_DISPATCHER: dict[str, Rights] = {
    "export_jobs": _read_only("id tenant_id destination_id"),
    "outbox": _read_and(update="published_at"),
    **_HEARTBEAT,
}

_ACKNOWLEDGER: dict[str, Rights] = {
    "export_jobs": _read_and(update="status"),
    "export_attempt_events": _read_and(_EVENT_COLUMNS),
    "acknowledgments_seen": _read_and("job_id attempt_id name mark"),
    "deliveries": READ,
    "destination_contracts": READ,
    "destination_secrets": READ,
    "destinations": READ,
    "tenants": READ,
    **_HEARTBEAT,
}

_RECONCILER: dict[str, Rights] = {
    "export_jobs": _read_and(update="status failure_reason"),
    "export_attempt_events": _read_and(_EVENT_COLUMNS),
    "deliveries": READ,
    "cancellation_requests": READ,
    "overwrite_agreements": READ,
    "destination_contracts": READ,
    "destinations": READ,
    "tenants": READ,
}

_AUDITOR: dict[str, Rights] = {
    # Everything, except what would let its reader act as somebody else.
    **dict.fromkeys((_API | _WORKER | _DISPATCHER | _ACKNOWLEDGER | _RECONCILER | _SCHEMA_STATE), READ),
    "destination_secrets": _read_only("id destination_id created_by created_at"),
    "auth_user": _read_only(
        "id last_login is_superuser username first_name last_name email is_staff is_active date_joined"
    ),
    "django_session": _read_only("expire_date"),
    "knox_authtoken": _read_only("created user_id expiry"),
    "otp_totp_totpdevice": _read_only("id user_id name confirmed created_at last_used_at"),
    # Written by no process: the log of requests has it.
    "axes_accesslog": READ,
    "axes_accessfailurelog": READ,
}

GRANTS: dict[Role, dict[str, Rights]] = {
    Role.API: _API | _SCHEMA_STATE,
    Role.WORKER: _WORKER | _SCHEMA_STATE,
    Role.DISPATCHER: _DISPATCHER | _SCHEMA_STATE,
    Role.ACKNOWLEDGER: _ACKNOWLEDGER | _SCHEMA_STATE,
    Role.RECONCILER: _RECONCILER | _SCHEMA_STATE,
    Role.AUDITOR: _AUDITOR,
}
"""Role, table, verb, columns. Sequences appear nowhere: identity columns need no right to theirs."""

TABLES = frozenset(chain.from_iterable(GRANTS.values()))
"""Every table of the project. A company's own tables beside them are the company's to grant."""
