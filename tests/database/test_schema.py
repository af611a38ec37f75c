"""The schema's names, written here by hand, against the catalogue; and the migrations, forwards and back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import psycopg
import pytest
from django.core.management import call_command

from exports.queries.worklist import SWEPT_OFTEN
from tests.database.scratch import catalogue_of, manage, scratch_database

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.database.guarded import Sandbox
    from tests.database.scratch import Scratch

FIVE_TABLES = {
    "export_jobs": "id uuid!, tenant_id uuid!, status text!, version integer!, destination_id uuid!, attempt_id uuid,"
    " attempt_count integer!, claimed_by text, lease_expires_at timestamptz, stop_request_id uuid,"
    " cancellation_request_id uuid, expected_file_name text, expected_file_bytes bigint, expected_file_sha256 bytea,"
    " delivery_authorized_at timestamptz, woken_at timestamptz!, failure_reason text, delivery_key text!,"
    " replaces_job_id uuid, created_by text!, replacement_reason text, overwrite_agreement_ref text,"
    " sweep_count integer!, created_at timestamptz!",
    "deliveries": "tenant_id uuid!, delivery_key text!, original_job_id uuid!",
    "export_attempt_events": "id bigint!, job_id uuid!, attempt_id uuid!, kind text!, version integer, worker_id text,"
    " observed_by text, detail text, recorded_at timestamptz!",
    "cancellation_requests": "tenant_id uuid!, id uuid!, job_id uuid!, requested_by text!, reason text, outcome text!,"
    " found_status text!, found_attempt_id uuid, found_attempt_count integer!,"
    " found_delivery_authorized_at timestamptz, recorded_at timestamptz!",
    "outbox": "message_id uuid!, kind text!, job_id uuid!, created_at timestamptz!, published_at timestamptz,"
    " tenant_id uuid!",
}
"""Column, type, and ! where it may not be null: the reference's, plus created_at of export_jobs."""

CONSTRAINTS = {
    "export_jobs": "ck_export_jobs_failure ck_export_jobs_overwrite ck_export_jobs_replacement"
    " export_jobs_failure_reason_check export_jobs_pkey export_jobs_status_check fk_export_jobs_delivery"
    " fk_export_jobs_replaces tg_export_jobs_birth_proof tg_export_jobs_proof uq_export_jobs_tenant",
    "deliveries": "fk_deliveries_original pk_deliveries uq_deliveries_original",
    "export_attempt_events": "export_attempt_events_job_id_fkey export_attempt_events_kind_check"
    " export_attempt_events_pkey",
    "cancellation_requests": "fk_cancellation_requests_job pk_cancellation_requests",
    "outbox": "outbox_pkey",
    "creation_requests": "creation_requests_pkey",
    "terms_changes": "terms_changes_pkey uq_terms_changes_job_version",
    "export_rejections": "export_rejections_pkey uq_export_rejections_job_version",
    "authorized_files": "authorized_files_pkey",
    "acknowledgments_seen": "acknowledgments_seen_pkey uq_acknowledgments_seen",
    "overwrite_agreements": "overwrite_agreements_destination_id_32b991aa_fk_destinations_id"
    " overwrite_agreements_pkey overwrite_agreements_tenant_id_e17ee120_fk_tenants_id",
    "destination_contracts": "destination_contract_destination_id_72e2b430_fk_destinati destination_contracts_pkey"
    " destination_contracts_version_check uq_destination_contracts_author uq_destination_contracts_version",
    "contract_decisions": "ck_contract_decisions_known ck_contract_decisions_two_persons"
    " contract_decisions_contract_id_af76cc83_fk_destinati contract_decisions_pkey fk_contract_decisions_author",
    "destination_secrets": "destination_secrets_destination_id_566c7ec6_fk_destinations_id destination_secrets_pkey",
    "destinations": "destinations_active_contract_id_9778ba0f_fk_destinati destinations_pkey"
    " destinations_tenant_id_b6417b64_fk_tenants_id uq_destinations_tenant_name",
    "tenants": "tenants_pkey tenants_slug_key",
    "memberships": "memberships_pkey memberships_tenant_id_35f4aa0b_fk_tenants_id"
    " memberships_user_id_5a99f855_fk_auth_user_id uq_memberships_user_tenant",
    "api_clients": "api_clients_name_key api_clients_person_id_afd59a55_fk_auth_user_id api_clients_pkey"
    " api_clients_user_id_d566f4b2_fk_auth_user_id api_clients_user_id_key",
    "contacts": "contacts_pkey contacts_tenant_id_23e151d7_fk_tenants_id uq_contacts_tenant_external",
    "holds": "holds_destination_id_eae93da4_fk_destinations_id holds_pkey holds_tenant_id_2cbf57fc_fk_tenants_id",
    "probe_requests": "probe_requests_contract_id_cc28900e_fk_destination_contracts_id"
    " probe_requests_destination_id_1baa47a4_fk_destinations_id probe_requests_pkey",
    "probe_runs": "probe_runs_pkey probe_runs_request_id_9cc177ea_fk_probe_requests_id",
    "probe_results": "probe_results_pkey probe_results_request_id_2c34c605_fk_probe_requests_id",
    "attempt_progress": "attempt_progress_pkey",
    "hourly_sums": "hourly_sums_pkey",
    "process_heartbeats": "process_heartbeats_pkey",
}
INDEXES = {
    "export_jobs": "export_jobs_pkey ix_export_jobs_lease ix_export_jobs_woken ix_x_export_jobs_attention"
    " ix_x_export_jobs_created_by ix_x_export_jobs_destination ix_x_export_jobs_list"
    " ix_x_export_jobs_pace ix_x_export_jobs_recent ix_x_export_jobs_replaces ix_x_export_jobs_slots"
    " ix_x_export_jobs_status ix_x_export_jobs_unknown ix_x_export_jobs_waiting"
    " uq_export_jobs_one_replacement uq_export_jobs_original_key uq_export_jobs_tenant",
    "deliveries": "pk_deliveries uq_deliveries_original",
    "export_attempt_events": "export_attempt_events_pkey ix_x_attempt_events_job ix_x_attempt_events_rare"
    " ix_x_attempt_events_time uq_attempt_transition",
    "cancellation_requests": "ix_x_cancellation_requests_job ix_x_cancellation_requests_recent"
    " pk_cancellation_requests",
    "outbox": "ix_x_outbox_job ix_x_outbox_rounds ix_x_outbox_unpublished outbox_pkey",
    "creation_requests": "creation_requests_pkey",
    "terms_changes": "terms_changes_pkey uq_terms_changes_job_version",
    "export_rejections": "export_rejections_pkey ix_x_export_rejections_time uq_export_rejections_job_version",
    "authorized_files": "authorized_files_pkey",
    "acknowledgments_seen": "acknowledgments_seen_pkey uq_acknowledgments_seen",
    "overwrite_agreements": "overwrite_agreements_destination_id_32b991aa overwrite_agreements_pkey"
    " overwrite_agreements_ref_cdaee2ee_like overwrite_agreements_tenant_id_e17ee120",
    "destination_contracts": "destination_contracts_destination_id_72e2b430 destination_contracts_pkey"
    " uq_destination_contracts_author uq_destination_contracts_version",
    "contract_decisions": "contract_decisions_pkey",
    "destination_secrets": "destination_secrets_destination_id_566c7ec6 destination_secrets_pkey",
    "destinations": "destinations_active_contract_id_9778ba0f destinations_pkey destinations_tenant_id_b6417b64"
    " uq_destinations_tenant_name",
    "tenants": "tenants_pkey tenants_slug_01bfd60f_like tenants_slug_key",
    "memberships": "memberships_pkey memberships_tenant_id_35f4aa0b memberships_user_id_5a99f855"
    " uq_memberships_user_tenant",
    "api_clients": "api_clients_name_1dac589d_like api_clients_name_key api_clients_person_id_afd59a55 api_clients_pkey"
    " api_clients_user_id_key",
    "contacts": "contacts_pkey uq_contacts_tenant_external",
    "holds": "holds_destination_id_eae93da4 holds_pkey holds_tenant_id_2cbf57fc ix_x_holds_job ix_x_holds_open"
    " ix_x_holds_recent ix_x_holds_unreleased uq_holds_automatic",
    "attempt_progress": "attempt_progress_pkey",
    "hourly_sums": "hourly_sums_pkey",
    "probe_requests": "ix_x_probe_requests_place ix_x_probe_requests_recent probe_requests_pkey",
    "probe_runs": "probe_runs_pkey",
    "probe_results": "probe_results_pkey",
    "process_heartbeats": "process_heartbeats_pkey process_heartbeats_process_id_b448179b_like",
}
TRIGGERS = {
    "export_jobs": "tg_export_jobs_birth tg_export_jobs_birth_proof tg_export_jobs_move tg_export_jobs_proof",
    "export_attempt_events": "tg_export_attempt_events_kind",
    "destinations": "tg_destinations_active",
}
PARTIAL = {
    "uq_attempt_transition": "(kind <> 'DeliveryEvidence'::text)",
    "uq_export_jobs_original_key": "(replaces_job_id IS NULL)",
    "uq_export_jobs_one_replacement": "((replaces_job_id IS NOT NULL) AND ((status <> ALL (ARRAY['Canceled'::text,"
    " 'Rejected'::text, 'Stopped'::text, 'Failed'::text])) OR (failure_reason = 'OriginalDelivered'::text)))",
    "ix_export_jobs_lease": "(status = ANY (ARRAY['Running'::text, 'Delivering'::text]))",
    "ix_export_jobs_woken": "(status = 'Queued'::text)",
    "ix_x_export_jobs_attention": "((status = 'OutcomeUnknown'::text) OR ((status = 'Failed'::text) AND (failure_reason"
    f" = 'FinalNameOccupied'::text)) OR ((status = 'Queued'::text) AND (sweep_count > {SWEPT_OFTEN})))",
}


def _names(sandbox: Sandbox, query: str) -> dict[str, str]:
    return dict(sandbox.connection.execute(query, [list(CONSTRAINTS)]).fetchall())


def test_the_five_tables_have_the_references_columns(sandbox: Sandbox) -> None:
    query = (
        "SELECT attrelid::regclass::text, string_agg(attname || ' ' ||"
        " replace(atttypid::regtype::text, 'timestamp with time zone', 'timestamptz') ||"
        " CASE WHEN attnotnull THEN '!' ELSE '' END, ', ' ORDER BY attnum)"
        " FROM pg_attribute WHERE attrelid = ANY(%s::regclass[]) AND attnum > 0 AND NOT attisdropped GROUP BY 1"
    )
    assert dict(sandbox.connection.execute(query, [list(FIVE_TABLES)]).fetchall()) == FIVE_TABLES


def test_every_constraint_has_its_name(sandbox: Sandbox) -> None:
    query = (
        "SELECT conrelid::regclass::text, string_agg(conname::text, ' ' ORDER BY conname) FROM pg_constraint"
        " WHERE conrelid = ANY(%s::regclass[]) AND contype <> 'n' GROUP BY 1"
    )
    assert _names(sandbox, query) == CONSTRAINTS


def test_every_index_has_its_name(sandbox: Sandbox) -> None:
    query = (
        "SELECT tablename::text, string_agg(indexname::text, ' ' ORDER BY indexname) FROM pg_indexes"
        " WHERE schemaname = 'public' AND tablename = ANY(%s) GROUP BY 1"
    )
    assert _names(sandbox, query) == INDEXES


def test_every_trigger_has_its_name_and_is_on(sandbox: Sandbox) -> None:
    query = (
        "SELECT tgrelid::regclass::text, string_agg(tgname::text, ' ' ORDER BY tgname) FROM pg_trigger"
        " WHERE tgrelid = ANY(%s::regclass[]) AND NOT tgisinternal AND tgenabled = 'O' GROUP BY 1"
    )
    assert _names(sandbox, query) == TRIGGERS


@pytest.mark.parametrize("index", PARTIAL)
def test_the_partial_indexes_cover_what_the_reference_says(sandbox: Sandbox, index: str) -> None:
    query = "SELECT pg_get_expr(indpred, indrelid) FROM pg_index WHERE indexrelid = %s::regclass"
    assert sandbox.value(query, index) == PARTIAL[index]


def test_an_events_identity_is_generated_always(sandbox: Sandbox) -> None:
    query = "SELECT attidentity::text FROM pg_attribute WHERE attrelid = %s::regclass AND attname = 'id'"
    assert sandbox.value(query, "export_attempt_events") == "a"


def test_the_models_and_the_migrations_agree() -> None:
    call_command("makemigrations", check=True, dry_run=True, verbosity=0)


@pytest.fixture(scope="module")
def scratch(admin_url: str) -> Iterator[Scratch]:
    with scratch_database(admin_url) as made:
        yield made


def _connect(address: str) -> psycopg.Connection[Any]:
    return psycopg.connect(address, autocommit=True)


def test_the_migrations_go_forwards_and_back_and_forwards(scratch: Scratch, database: str) -> None:
    manage(scratch, "provision_roles")
    manage(scratch, "migrate", "--no-input")
    with _connect(database) as tested, _connect(scratch.admin_url) as made:
        whole = catalogue_of(tested)
        assert catalogue_of(made) == whole
        assert manage(scratch, "provision_roles", "--check") == ""
        manage(scratch, "migrate", "exports", "0003")
        assert {name for kind, name, _ in whole - catalogue_of(made) if kind == "trigger"} == {
            name for names in TRIGGERS.values() for name in names.split()
        }
        manage(scratch, "migrate", "exports", "zero")
        assert not {name for _, name, _ in catalogue_of(made) if name in CONSTRAINTS or name.startswith("export")}
        manage(scratch, "migrate", "--no-input")
        assert catalogue_of(made) == whole
