"""Triggers that refuse what the tables of states and roles do not allow, whoever tries (I2, I5, I10)."""

from __future__ import annotations

from django.db import migrations

# Each refusal has an SQLSTATE of its own: XJ001 a birth, XJ002 a move this role may not make, XJ003 a move whose
# condition does not hold, XJ004 a column that may not change so, XJ005 an event of this kind by this role, XJ006
# a change that was committed without its proof. The owner passes (data sets, fixtures); every login that is
# none of the seven holds no role here, a superuser included. Tables are named with their schema: a session could
# put a temporary one of the same name in front.
GUARDS = """
CREATE FUNCTION export_jobs_birth() RETURNS trigger LANGUAGE plpgsql AS $guard$
BEGIN
    IF current_user = 'exports_owner' THEN
        RETURN NEW;
    END IF;
    IF current_user <> 'exports_api' THEN
        RAISE EXCEPTION USING ERRCODE = 'XJ001', MESSAGE = format('%s may not create an export', current_user);
    END IF;
    IF NEW.status <> 'Queued' OR NEW.version <> 1 OR NEW.attempt_count <> 0 OR NEW.sweep_count <> 0
       OR num_nonnulls(NEW.attempt_id, NEW.claimed_by, NEW.lease_expires_at, NEW.stop_request_id,
                       NEW.cancellation_request_id, NEW.expected_file_name, NEW.expected_file_bytes,
                       NEW.expected_file_sha256, NEW.delivery_authorized_at) > 0 THEN
        RAISE EXCEPTION USING ERRCODE = 'XJ001',
            MESSAGE = 'an export is born Queued, in version 1, with no attempt, request or expected file';
    END IF;
    RETURN NEW;
END $guard$;

CREATE FUNCTION export_jobs_move() RETURNS trigger LANGUAGE plpgsql AS $guard$
DECLARE
    allowed public.export_jobs := OLD;  -- the old row, plus every column this role may change in this move
    rule text := 'nothing else may change';
    holds boolean;
BEGIN
    IF current_user = 'exports_owner' THEN
        RETURN NEW;
    END IF;
    allowed.status := NEW.status;
    CASE current_user || ': ' || OLD.status || ' to ' || NEW.status

    WHEN 'exports_worker: Running to Running', 'exports_worker: Delivering to Delivering' THEN
        rule := 'a lease is renewed or returned, never removed';
        allowed.lease_expires_at := NEW.lease_expires_at;
        holds := NEW.lease_expires_at IS NOT NULL;

    WHEN 'exports_worker: Queued to Running' THEN
        rule := 'a claim begins the next attempt, with an id, a worker and a lease';
        allowed.attempt_id := NEW.attempt_id;
        allowed.attempt_count := NEW.attempt_count;
        allowed.claimed_by := NEW.claimed_by;
        allowed.lease_expires_at := NEW.lease_expires_at;
        holds := OLD.attempt_id IS NULL AND NEW.attempt_count = OLD.attempt_count + 1
                 AND num_nulls(NEW.attempt_id, NEW.claimed_by, NEW.lease_expires_at) = 0;

    WHEN 'exports_worker: Running to Delivering' THEN
        rule := 'delivery is authorized with a current lease, without a stop request, before its original '
                'completed, and with the whole expected file';
        allowed.expected_file_name := NEW.expected_file_name;
        allowed.expected_file_bytes := NEW.expected_file_bytes;
        allowed.expected_file_sha256 := NEW.expected_file_sha256;
        allowed.delivery_authorized_at := NEW.delivery_authorized_at;
        -- The statement judges the lease after its last lock and records that moment. A clock read here would
        -- be later still, and could contradict an answer that was right when it was given.
        holds := OLD.stop_request_id IS NULL
                 AND num_nonnulls(OLD.expected_file_name, OLD.expected_file_bytes, OLD.expected_file_sha256,
                                  OLD.delivery_authorized_at) = 0
                 AND num_nulls(NEW.expected_file_name, NEW.expected_file_bytes, NEW.expected_file_sha256) = 0
                 AND NEW.delivery_authorized_at >= statement_timestamp()
                 AND NEW.delivery_authorized_at < OLD.lease_expires_at;
        IF NEW.replaces_job_id IS NOT NULL THEN
            holds := holds AND NOT EXISTS (
                SELECT FROM public.export_jobs o WHERE o.id = NEW.replaces_job_id AND o.status = 'Completed');
        END IF;

    WHEN 'exports_worker: Delivering to Completed', 'exports_worker: Delivering to OutcomeUnknown' THEN
        rule := 'the end of an attempt ends its lease';
        allowed.lease_expires_at := NEW.lease_expires_at;
        holds := NEW.lease_expires_at IS NULL;

    WHEN 'exports_worker: Delivering to Failed' THEN
        rule := 'a delivery fails because it was proved absent, its name was occupied, or (a replacement) its '
                'original had delivered; the end of an attempt ends its lease';
        allowed.lease_expires_at := NEW.lease_expires_at;
        allowed.failure_reason := NEW.failure_reason;
        holds := NEW.lease_expires_at IS NULL AND CASE NEW.failure_reason
            WHEN 'NotDelivered' THEN true
            WHEN 'FinalNameOccupied' THEN true
            WHEN 'OriginalDelivered' THEN NEW.replaces_job_id IS NOT NULL
            ELSE NEW.failure_reason IS NULL END;  -- no reason at all is for ck_export_jobs_failure to refuse

    WHEN 'exports_worker: Running to Failed' THEN
        rule := 'an attempt fails by its build, an occupied name, (a replacement) a delivered original, or an '
                'expired lease with nobody asking to stop; the end of an attempt ends its lease';
        allowed.lease_expires_at := NEW.lease_expires_at;
        allowed.failure_reason := NEW.failure_reason;
        holds := NEW.lease_expires_at IS NULL AND CASE NEW.failure_reason
            WHEN 'BuildFailed' THEN true
            WHEN 'FinalNameOccupied' THEN true
            WHEN 'OriginalDelivered' THEN NEW.replaces_job_id IS NOT NULL
            WHEN 'AttemptsExhausted' THEN
                OLD.lease_expires_at < clock_timestamp() AND OLD.stop_request_id IS NULL
            ELSE NEW.failure_reason IS NULL END;

    WHEN 'exports_worker: Running to Stopped' THEN
        rule := 'an attempt is stopped only on a recorded request; its end ends its lease';
        allowed.lease_expires_at := NEW.lease_expires_at;
        holds := OLD.stop_request_id IS NOT NULL AND NEW.lease_expires_at IS NULL;

    WHEN 'exports_worker: Running to Queued' THEN
        rule := 'a takeover needs an expired lease and no stop request, and leaves nothing of the attempt';
        allowed.attempt_id := NULL;
        allowed.claimed_by := NULL;
        allowed.lease_expires_at := NULL;
        allowed.woken_at := NEW.woken_at;
        holds := OLD.lease_expires_at < clock_timestamp() AND OLD.stop_request_id IS NULL;

    WHEN 'exports_worker: Queued to Queued' THEN
        rule := 'a wake-up is never earlier than the last; the sweeper counts its own one by one';
        allowed.woken_at := NEW.woken_at;
        allowed.sweep_count := NEW.sweep_count;
        holds := NEW.woken_at >= OLD.woken_at AND (NEW.sweep_count = OLD.sweep_count
                 OR NEW.sweep_count = OLD.sweep_count + 1 AND NEW.woken_at > OLD.woken_at);

    WHEN 'exports_worker: Queued to Rejected' THEN
        holds := true;

    WHEN 'exports_api: Queued to Queued' THEN
        rule := 'an edit of the terms raises the version by one, and never moves a replacement';
        allowed.destination_id := NEW.destination_id;
        allowed.version := NEW.version;
        allowed.woken_at := NEW.woken_at;
        holds := NEW.version = OLD.version + 1 AND OLD.replaces_job_id IS NULL;

    WHEN 'exports_api: Queued to Canceled' THEN
        rule := 'a cancellation names its request';
        allowed.cancellation_request_id := NEW.cancellation_request_id;
        holds := OLD.cancellation_request_id IS NULL AND NEW.cancellation_request_id IS NOT NULL;

    WHEN 'exports_api: Running to Running' THEN
        rule := 'the first stop request stands';
        allowed.stop_request_id := NEW.stop_request_id;
        holds := OLD.stop_request_id IS NULL AND NEW.stop_request_id IS NOT NULL;

    WHEN 'exports_reconciler: OutcomeUnknown to Completed', 'exports_acknowledger: OutcomeUnknown to Completed' THEN
        holds := true;

    WHEN 'exports_reconciler: OutcomeUnknown to Failed' THEN
        rule := 'an unknown outcome fails only as not delivered';
        allowed.failure_reason := NEW.failure_reason;
        holds := coalesce(NEW.failure_reason, 'NotDelivered') = 'NotDelivered';

    WHEN 'exports_reconciler: Completed to Failed' THEN
        rule := 'only an authorized delivery is corrected, to not delivered or (a replacement) to its original''s';
        allowed.failure_reason := NEW.failure_reason;
        holds := NEW.delivery_authorized_at IS NOT NULL AND CASE NEW.failure_reason
            WHEN 'NotDelivered' THEN true
            WHEN 'OriginalDelivered' THEN NEW.replaces_job_id IS NOT NULL
            ELSE NEW.failure_reason IS NULL END;

    WHEN 'exports_reconciler: Failed to Completed' THEN
        rule := 'only an authorized delivery is corrected';
        allowed.failure_reason := NEW.failure_reason;
        holds := NEW.delivery_authorized_at IS NOT NULL;

    ELSE
        IF OLD.status = NEW.status THEN
            RAISE EXCEPTION USING ERRCODE = 'XJ004',
                MESSAGE = format('%s may change nothing of an export that stays %s', current_user, OLD.status);
        END IF;
        RAISE EXCEPTION USING ERRCODE = 'XJ002',
            MESSAGE = format('%s may not move an export from %s to %s', current_user, OLD.status, NEW.status);
    END CASE;

    IF holds IS NOT TRUE THEN
        RAISE EXCEPTION USING ERRCODE = 'XJ003', DETAIL = rule,
            MESSAGE = format('this export may not go from %s to %s so', OLD.status, NEW.status);
    END IF;
    IF allowed IS DISTINCT FROM NEW THEN
        RAISE EXCEPTION USING ERRCODE = 'XJ004', DETAIL = rule,
            MESSAGE = format('%s may not change %s of an export going from %s to %s', current_user,
                (SELECT string_agg(n.key, ', ' ORDER BY n.key)
                 FROM jsonb_each(to_jsonb(NEW)) n JOIN jsonb_each(to_jsonb(allowed)) a USING (key)
                 WHERE n.value <> a.value), OLD.status, NEW.status);
    END IF;
    RETURN NEW;
END $guard$;

CREATE FUNCTION export_attempt_events_kind() RETURNS trigger LANGUAGE plpgsql AS $guard$
BEGIN
    IF current_user = 'exports_owner'
       OR current_user = 'exports_worker' AND NEW.kind NOT IN ('Reconciled', 'Corrected')
       OR current_user = 'exports_reconciler' AND NEW.kind IN ('Reconciled', 'Corrected', 'DeliveryEvidence')
       OR current_user = 'exports_acknowledger' AND NEW.kind IN ('Reconciled', 'DeliveryEvidence') THEN
        RETURN NEW;
    END IF;
    RAISE EXCEPTION USING ERRCODE = 'XJ005',
        MESSAGE = format('%s may not record an event of kind %s', current_user, NEW.kind);
END $guard$;

-- Whether a visible row was written by this transaction, a savepoint of it included. A savepoint has a later
-- number than its transaction; unfinished, and yet visible, it can only be one's own.
CREATE FUNCTION exports_written_here(written_by xid) RETURNS boolean LANGUAGE plpgsql AS $guard$
DECLARE
    mine bigint;
    ahead bigint;
BEGIN
    IF written_by = pg_current_xact_id()::xid THEN
        RETURN true;
    END IF;
    mine := pg_current_xact_id()::text::bigint;
    ahead := (written_by::text::bigint - mine % 4294967296 + 4294967296) % 4294967296;
    IF ahead > 2147483647 OR written_by::text::bigint < 3 THEN  -- earlier than mine; below 3: frozen
        RETURN false;
    END IF;
    RETURN pg_xact_status((mine + ahead)::text::xid8) = 'in progress';
END $guard$;

CREATE FUNCTION export_jobs_birth_proof() RETURNS trigger LANGUAGE plpgsql AS $guard$
BEGIN
    IF current_user = 'exports_owner' THEN
        RETURN NULL;
    END IF;
    IF NOT EXISTS (SELECT FROM public.outbox o WHERE o.job_id = NEW.id AND public.exports_written_here(o.xmin)) THEN
        RAISE EXCEPTION USING ERRCODE = 'XJ006', MESSAGE = 'an export is created together with its first wake-up';
    END IF;
    IF NOT EXISTS (SELECT FROM public.creation_requests c
                   WHERE c.job_id = NEW.id AND public.exports_written_here(c.xmin)) THEN
        RAISE EXCEPTION USING ERRCODE = 'XJ006', MESSAGE = 'an export is created together with its creation request';
    END IF;
    RETURN NULL;
END $guard$;

CREATE FUNCTION export_jobs_proof() RETURNS trigger LANGUAGE plpgsql AS $guard$
DECLARE
    wanted text;
    or_wanted text;
    proof text;
    proven boolean := true;
BEGIN
    IF current_user = 'exports_owner' OR ROW(OLD.status, OLD.version, OLD.woken_at, OLD.stop_request_id)
       IS NOT DISTINCT FROM ROW(NEW.status, NEW.version, NEW.woken_at, NEW.stop_request_id) THEN
        RETURN NULL;
    END IF;
    CASE OLD.status || ' to ' || NEW.status
    WHEN 'Queued to Running' THEN wanted := 'Claimed';
    WHEN 'Running to Delivering' THEN wanted := 'DeliveryAuthorized';
    WHEN 'Delivering to Completed', 'Delivering to OutcomeUnknown' THEN
        wanted := 'Finished';
        or_wanted := 'ResolvedByRecovery';
    WHEN 'Delivering to Failed' THEN wanted := 'Finished';
    WHEN 'Running to Stopped' THEN
        wanted := 'Stopped';
        or_wanted := 'StoppedByRecovery';
    WHEN 'Running to Queued' THEN wanted := 'RequeuedByRecovery';
    WHEN 'Running to Failed' THEN
        wanted := CASE NEW.failure_reason WHEN 'AttemptsExhausted' THEN 'AttemptsExhausted' ELSE 'Failed' END;
    WHEN 'OutcomeUnknown to Completed', 'OutcomeUnknown to Failed' THEN wanted := 'Reconciled';
    WHEN 'Completed to Failed', 'Failed to Completed' THEN wanted := 'Corrected';
    WHEN 'Queued to Canceled' THEN
        proof := 'a cancellation request that canceled it';
        proven := EXISTS (
            SELECT FROM public.cancellation_requests c
            WHERE c.tenant_id = NEW.tenant_id AND c.id = NEW.cancellation_request_id AND c.job_id = NEW.id
              AND c.outcome = 'CanceledWhileQueued' AND public.exports_written_here(c.xmin));
    WHEN 'Queued to Rejected' THEN
        proof := 'a rejection with its reasons';
        proven := EXISTS (
            SELECT FROM public.export_rejections r
            WHERE r.job_id = NEW.id AND r.version = NEW.version AND public.exports_written_here(r.xmin));
    WHEN 'Running to Running' THEN  -- of what brings a row here, only the first stop request can have changed
        proof := 'a cancellation request that asked to stop';
        proven := EXISTS (
            SELECT FROM public.cancellation_requests c
            WHERE c.tenant_id = NEW.tenant_id AND c.id = NEW.stop_request_id AND c.job_id = NEW.id
              AND c.outcome = 'StopRequested' AND public.exports_written_here(c.xmin));
    ELSE NULL;
    END CASE;

    IF wanted IS NOT NULL THEN
        -- Two scalars: for an array the planner makes a new plan at every call, which costs three times the look.
        proven := EXISTS (
            SELECT FROM public.export_attempt_events e
            WHERE e.job_id = NEW.id AND e.attempt_id = coalesce(NEW.attempt_id, OLD.attempt_id)
              AND e.kind IN (wanted, or_wanted) AND e.kind <> 'DeliveryEvidence' AND public.exports_written_here(e.xmin));
    END IF;
    IF proven AND NEW.version <> OLD.version THEN
        proof := 'a record of the change of its terms';
        proven := EXISTS (
            SELECT FROM public.terms_changes t
            WHERE t.job_id = NEW.id AND t.version = NEW.version AND public.exports_written_here(t.xmin));
    END IF;
    IF proven AND NEW.status = 'Queued' THEN
        proof := 'a wake-up';
        proven := EXISTS (
            SELECT FROM public.outbox o WHERE o.job_id = NEW.id AND public.exports_written_here(o.xmin));
    END IF;

    IF NOT proven THEN
        RAISE EXCEPTION USING ERRCODE = 'XJ006', MESSAGE = format(
            'export %s went from %s to %s without %s in the same transaction', NEW.id, OLD.status, NEW.status,
            coalesce(proof, format('an event of kind %s of its attempt', concat_ws(' or ', wanted, or_wanted))));
    END IF;
    RETURN NULL;
END $guard$;

-- No trigger has a WHEN: its text is parsed anew by every statement, which costs more than all it could spare.
CREATE TRIGGER tg_export_jobs_birth BEFORE INSERT ON export_jobs
    FOR EACH ROW EXECUTE FUNCTION export_jobs_birth();
CREATE TRIGGER tg_export_jobs_move BEFORE UPDATE ON export_jobs
    FOR EACH ROW EXECUTE FUNCTION export_jobs_move();
CREATE TRIGGER tg_export_attempt_events_kind BEFORE INSERT ON export_attempt_events
    FOR EACH ROW EXECUTE FUNCTION export_attempt_events_kind();

-- Deferred, because a cancellation records its request in a later statement than its update. The columns named
-- are those of which a change needs proof: a renewal sets none of them and is never looked at again.
CREATE CONSTRAINT TRIGGER tg_export_jobs_birth_proof AFTER INSERT ON export_jobs
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION export_jobs_birth_proof();
CREATE CONSTRAINT TRIGGER tg_export_jobs_proof AFTER UPDATE OF status, version, woken_at, stop_request_id ON export_jobs
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION export_jobs_proof();

-- A process speaks for itself alone: its row carries its own role, with or without the prefix of our logins. All
-- may read them; the scavenger, a worker, removes those of processes that are gone.
ALTER TABLE process_heartbeats ENABLE ROW LEVEL SECURITY;
CREATE POLICY heartbeats_read ON process_heartbeats FOR SELECT USING (true);
CREATE POLICY heartbeats_begin ON process_heartbeats FOR INSERT
    WITH CHECK (role IN (current_user, replace(current_user, 'exports_', '')));
CREATE POLICY heartbeats_beat ON process_heartbeats FOR UPDATE
    USING (role IN (current_user, replace(current_user, 'exports_', '')));
CREATE POLICY heartbeats_end ON process_heartbeats FOR DELETE USING (current_user = 'exports_worker');
"""

UNGUARDED = """
DROP POLICY heartbeats_end ON process_heartbeats;
DROP POLICY heartbeats_beat ON process_heartbeats;
DROP POLICY heartbeats_begin ON process_heartbeats;
DROP POLICY heartbeats_read ON process_heartbeats;
ALTER TABLE process_heartbeats DISABLE ROW LEVEL SECURITY;
DROP TRIGGER tg_export_jobs_proof ON export_jobs;
DROP TRIGGER tg_export_jobs_birth_proof ON export_jobs;
DROP TRIGGER tg_export_attempt_events_kind ON export_attempt_events;
DROP TRIGGER tg_export_jobs_move ON export_jobs;
DROP TRIGGER tg_export_jobs_birth ON export_jobs;
DROP FUNCTION export_jobs_proof(), export_jobs_birth_proof(), exports_written_here(xid),
    export_attempt_events_kind(), export_jobs_move(), export_jobs_birth();
"""


class Migration(migrations.Migration):
    dependencies = [("exports", "0003_companions")]

    operations = [migrations.RunSQL(sql=GUARDS, reverse_sql=UNGUARDED)]
