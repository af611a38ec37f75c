"""The five tables, exactly as the reference names them, with what this project adds (created_at, ix_x_…)."""

from __future__ import annotations

import django.db.models.deletion
from django.db import migrations, models

import exports.models.base

FORWARDS = """
CREATE TABLE export_jobs (
    id                       uuid PRIMARY KEY,
    tenant_id                uuid NOT NULL,
    status                   text NOT NULL CHECK (status IN ('Queued', 'Running', 'Delivering', 'Canceled',
                                 'Rejected', 'Stopped', 'Failed', 'Completed', 'OutcomeUnknown')),
    version                  int  NOT NULL,
    destination_id           uuid NOT NULL,
    attempt_id               uuid,
    attempt_count            int  NOT NULL DEFAULT 0,
    claimed_by               text,
    lease_expires_at         timestamptz,
    stop_request_id          uuid,
    cancellation_request_id  uuid,
    expected_file_name       text,
    expected_file_bytes      bigint,
    expected_file_sha256     bytea,
    delivery_authorized_at   timestamptz,
    woken_at                 timestamptz NOT NULL,
    failure_reason           text CHECK (failure_reason IN ('BuildFailed', 'AttemptsExhausted', 'NotDelivered',
                                 'FinalNameOccupied', 'OriginalDelivered')),
    delivery_key             text NOT NULL,
    replaces_job_id          uuid,
    created_by               text NOT NULL,
    replacement_reason       text,
    overwrite_agreement_ref  text,
    sweep_count              int  NOT NULL DEFAULT 0,
    created_at               timestamptz NOT NULL DEFAULT clock_timestamp(),
    CONSTRAINT uq_export_jobs_tenant UNIQUE (tenant_id, id),
    CONSTRAINT ck_export_jobs_replacement CHECK ((replaces_job_id IS NULL) = (replacement_reason IS NULL)),
    CONSTRAINT ck_export_jobs_overwrite CHECK (overwrite_agreement_ref IS NULL OR replaces_job_id IS NOT NULL),
    CONSTRAINT ck_export_jobs_failure CHECK ((status = 'Failed') = (failure_reason IS NOT NULL))
);

CREATE TABLE deliveries (
    tenant_id        uuid NOT NULL,
    delivery_key     text NOT NULL,
    original_job_id  uuid NOT NULL,
    CONSTRAINT pk_deliveries PRIMARY KEY (tenant_id, delivery_key),
    CONSTRAINT uq_deliveries_original UNIQUE (tenant_id, delivery_key, original_job_id),
    CONSTRAINT fk_deliveries_original FOREIGN KEY (tenant_id, original_job_id)
        REFERENCES export_jobs (tenant_id, id) DEFERRABLE INITIALLY DEFERRED
);

ALTER TABLE export_jobs
    ADD CONSTRAINT fk_export_jobs_delivery FOREIGN KEY (tenant_id, delivery_key)
        REFERENCES deliveries (tenant_id, delivery_key),
    ADD CONSTRAINT fk_export_jobs_replaces FOREIGN KEY (tenant_id, delivery_key, replaces_job_id)
        REFERENCES deliveries (tenant_id, delivery_key, original_job_id);

CREATE UNIQUE INDEX uq_export_jobs_original_key ON export_jobs (tenant_id, delivery_key) WHERE replaces_job_id IS NULL;

CREATE UNIQUE INDEX uq_export_jobs_one_replacement ON export_jobs (tenant_id, replaces_job_id)
    WHERE replaces_job_id IS NOT NULL
      AND (status NOT IN ('Canceled', 'Rejected', 'Stopped', 'Failed') OR failure_reason = 'OriginalDelivered');

CREATE INDEX ix_export_jobs_lease ON export_jobs (lease_expires_at) WHERE status IN ('Running', 'Delivering');
CREATE INDEX ix_export_jobs_woken ON export_jobs (woken_at) WHERE status = 'Queued';
CREATE INDEX ix_x_export_jobs_list ON export_jobs (tenant_id, created_at DESC, id DESC);
CREATE INDEX ix_x_export_jobs_replaces ON export_jobs (replaces_job_id) WHERE replaces_job_id IS NOT NULL;

CREATE TABLE export_attempt_events (
    id           bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    job_id       uuid NOT NULL REFERENCES export_jobs (id),
    attempt_id   uuid NOT NULL,
    kind         text NOT NULL CHECK (kind IN ('Claimed', 'DeliveryAuthorized', 'Stopped', 'Failed',
                     'Finished', 'RequeuedByRecovery', 'StoppedByRecovery', 'AttemptsExhausted',
                     'ResolvedByRecovery', 'Reconciled', 'Corrected', 'DeliveryEvidence')),
    version      int,
    worker_id    text,
    observed_by  text,
    detail       text,
    recorded_at  timestamptz NOT NULL
);

CREATE UNIQUE INDEX uq_attempt_transition ON export_attempt_events (job_id, attempt_id, kind)
    WHERE kind <> 'DeliveryEvidence';
CREATE INDEX ix_x_attempt_events_job ON export_attempt_events (job_id, id);

CREATE TABLE cancellation_requests (
    tenant_id                     uuid NOT NULL,
    id                            uuid NOT NULL,
    job_id                        uuid NOT NULL,
    requested_by                  text NOT NULL,
    reason                        text,
    outcome                       text NOT NULL,
    found_status                  text NOT NULL,
    found_attempt_id              uuid,
    found_attempt_count           int  NOT NULL,
    found_delivery_authorized_at  timestamptz,
    recorded_at                   timestamptz NOT NULL DEFAULT clock_timestamp(),
    CONSTRAINT pk_cancellation_requests PRIMARY KEY (tenant_id, id),
    CONSTRAINT fk_cancellation_requests_job FOREIGN KEY (tenant_id, job_id)
        REFERENCES export_jobs (tenant_id, id)
);
CREATE INDEX ix_x_cancellation_requests_job ON cancellation_requests (job_id, recorded_at);

CREATE TABLE outbox (
    message_id    uuid PRIMARY KEY,
    kind          text NOT NULL,
    job_id        uuid NOT NULL,
    created_at    timestamptz NOT NULL,
    published_at  timestamptz
);
CREATE INDEX ix_x_outbox_unpublished ON outbox (created_at) WHERE published_at IS NULL;
CREATE INDEX ix_x_outbox_job ON outbox (job_id, created_at);
"""

BACKWARDS = """
ALTER TABLE export_jobs DROP CONSTRAINT fk_export_jobs_replaces, DROP CONSTRAINT fk_export_jobs_delivery;
DROP TABLE outbox, cancellation_requests, export_attempt_events, deliveries, export_jobs;
"""


class Migration(migrations.Migration):
    dependencies = [("exports", "0001_directory")]

    operations = [
        migrations.RunSQL(
            sql=FORWARDS,
            reverse_sql=BACKWARDS,
            state_operations=[
                migrations.CreateModel(
                    name="OutboxMessage",
                    fields=[
                        ("message_id", models.UUIDField(primary_key=True, serialize=False)),
                        ("kind", models.TextField()),
                        ("job_id", models.UUIDField()),
                        ("created_at", models.DateTimeField()),
                        ("published_at", models.DateTimeField(null=True)),
                    ],
                    options={
                        "verbose_name": "wake-up",
                        "db_table": "outbox",
                    },
                ),
                migrations.CreateModel(
                    name="ExportJob",
                    fields=[
                        ("id", models.UUIDField(primary_key=True, serialize=False)),
                        (
                            "status",
                            models.TextField(
                                choices=[
                                    ("Queued", "Queued"),
                                    ("Running", "Running"),
                                    ("Delivering", "Delivering"),
                                    ("Canceled", "Canceled"),
                                    ("Rejected", "Rejected"),
                                    ("Stopped", "Stopped"),
                                    ("Failed", "Failed"),
                                    ("Completed", "Completed"),
                                    ("OutcomeUnknown", "OutcomeUnknown"),
                                ]
                            ),
                        ),
                        ("version", models.IntegerField()),
                        ("attempt_id", models.UUIDField(null=True)),
                        ("attempt_count", models.IntegerField(db_default=0)),
                        ("claimed_by", models.TextField(null=True)),
                        ("lease_expires_at", models.DateTimeField(null=True)),
                        ("stop_request_id", models.UUIDField(null=True)),
                        ("cancellation_request_id", models.UUIDField(null=True)),
                        ("expected_file_name", models.TextField(null=True)),
                        ("expected_file_bytes", models.BigIntegerField(null=True)),
                        ("expected_file_sha256", models.BinaryField(null=True)),
                        ("delivery_authorized_at", models.DateTimeField(null=True)),
                        ("woken_at", models.DateTimeField()),
                        ("failure_reason", models.TextField(null=True)),
                        ("delivery_key", models.TextField()),
                        ("replaces_job_id", models.UUIDField(null=True)),
                        ("created_by", models.TextField()),
                        ("replacement_reason", models.TextField(null=True)),
                        ("overwrite_agreement_ref", models.TextField(null=True)),
                        ("sweep_count", models.IntegerField(db_default=0)),
                        ("created_at", models.DateTimeField(db_default=exports.models.base.ClockTimestamp())),
                        (
                            "destination",
                            models.ForeignKey(
                                db_constraint=False,
                                db_index=False,
                                on_delete=django.db.models.deletion.DO_NOTHING,
                                related_name="+",
                                to="exports.destination",
                            ),
                        ),
                        (
                            "tenant",
                            models.ForeignKey(
                                db_constraint=False,
                                db_index=False,
                                on_delete=django.db.models.deletion.DO_NOTHING,
                                related_name="+",
                                to="exports.tenant",
                            ),
                        ),
                    ],
                    options={
                        "verbose_name": "export",
                        "db_table": "export_jobs",
                    },
                ),
                migrations.CreateModel(
                    name="ExportAttemptEvent",
                    fields=[
                        ("id", models.BigAutoField(primary_key=True, serialize=False)),
                        ("attempt_id", models.UUIDField()),
                        (
                            "kind",
                            models.TextField(
                                choices=[
                                    ("Claimed", "Claimed"),
                                    ("DeliveryAuthorized", "DeliveryAuthorized"),
                                    ("Stopped", "Stopped"),
                                    ("Failed", "Failed"),
                                    ("Finished", "Finished"),
                                    ("RequeuedByRecovery", "RequeuedByRecovery"),
                                    ("StoppedByRecovery", "StoppedByRecovery"),
                                    ("AttemptsExhausted", "AttemptsExhausted"),
                                    ("ResolvedByRecovery", "ResolvedByRecovery"),
                                    ("Reconciled", "Reconciled"),
                                    ("Corrected", "Corrected"),
                                    ("DeliveryEvidence", "DeliveryEvidence"),
                                ]
                            ),
                        ),
                        ("version", models.IntegerField(null=True)),
                        ("worker_id", models.TextField(null=True)),
                        ("observed_by", models.TextField(null=True)),
                        ("detail", models.TextField(null=True)),
                        ("recorded_at", models.DateTimeField()),
                        (
                            "job",
                            models.ForeignKey(
                                db_constraint=False,
                                db_index=False,
                                on_delete=django.db.models.deletion.DO_NOTHING,
                                related_name="+",
                                to="exports.exportjob",
                            ),
                        ),
                    ],
                    options={
                        "verbose_name": "attempt event",
                        "db_table": "export_attempt_events",
                    },
                ),
                migrations.CreateModel(
                    name="Delivery",
                    fields=[
                        (
                            "pk",
                            models.CompositePrimaryKey(
                                "tenant_id",
                                "delivery_key",
                                blank=True,
                                editable=False,
                                primary_key=True,
                                serialize=False,
                            ),
                        ),
                        ("delivery_key", models.TextField()),
                        (
                            "original_job",
                            models.ForeignKey(
                                db_constraint=False,
                                db_index=False,
                                on_delete=django.db.models.deletion.DO_NOTHING,
                                related_name="+",
                                to="exports.exportjob",
                            ),
                        ),
                        (
                            "tenant",
                            models.ForeignKey(
                                db_constraint=False,
                                db_index=False,
                                on_delete=django.db.models.deletion.DO_NOTHING,
                                related_name="+",
                                to="exports.tenant",
                            ),
                        ),
                    ],
                    options={
                        "verbose_name_plural": "deliveries",
                        "db_table": "deliveries",
                    },
                ),
                migrations.CreateModel(
                    name="CancellationRequest",
                    fields=[
                        (
                            "pk",
                            models.CompositePrimaryKey(
                                "tenant_id",
                                "id",
                                blank=True,
                                editable=False,
                                primary_key=True,
                                serialize=False,
                            ),
                        ),
                        ("id", models.UUIDField()),
                        ("requested_by", models.TextField()),
                        ("reason", models.TextField(null=True)),
                        ("outcome", models.TextField()),
                        ("found_status", models.TextField()),
                        ("found_attempt_id", models.UUIDField(null=True)),
                        ("found_attempt_count", models.IntegerField()),
                        ("found_delivery_authorized_at", models.DateTimeField(null=True)),
                        (
                            "recorded_at",
                            models.DateTimeField(db_default=exports.models.base.ClockTimestamp()),
                        ),
                        (
                            "job",
                            models.ForeignKey(
                                db_constraint=False,
                                db_index=False,
                                on_delete=django.db.models.deletion.DO_NOTHING,
                                related_name="+",
                                to="exports.exportjob",
                            ),
                        ),
                        (
                            "tenant",
                            models.ForeignKey(
                                db_constraint=False,
                                db_index=False,
                                on_delete=django.db.models.deletion.DO_NOTHING,
                                related_name="+",
                                to="exports.tenant",
                            ),
                        ),
                    ],
                    options={
                        "verbose_name": "cancellation request",
                        "db_table": "cancellation_requests",
                    },
                ),
            ],
        ),
    ]
