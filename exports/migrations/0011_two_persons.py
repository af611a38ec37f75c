"""A contract is in force once a second person has confirmed it; and two permissions of their own."""

from __future__ import annotations

import django.db.models.deletion
from django.db import migrations, models

import exports.models.base

# Who confirmed is compared with who is on record as the author, not with a name that came with the confirmation.
AUTHOR = """
ALTER TABLE destination_contracts ADD CONSTRAINT uq_destination_contracts_author UNIQUE (id, created_by);
ALTER TABLE contract_decisions ADD CONSTRAINT fk_contract_decisions_author
    FOREIGN KEY (contract_id, proposed_by) REFERENCES destination_contracts (id, created_by);
"""
NO_AUTHOR = """
ALTER TABLE contract_decisions DROP CONSTRAINT fk_contract_decisions_author;
ALTER TABLE destination_contracts DROP CONSTRAINT uq_destination_contracts_author;
"""

# What was in force before stays in force, and is recorded as what it was: one person's decision.
KEEP = """
INSERT INTO contract_decisions (contract_id, decision, proposed_by, decided_by, is_one_person, reason, decided_at)
SELECT c.id, 'Confirmed', c.created_by, c.created_by, true, 'In force before a second person had to confirm.',
       clock_timestamp()
FROM destination_contracts c JOIN destinations d ON d.active_contract_id = c.id;
"""

# The owner passes, as everywhere: fixtures and data sets. Nobody else points a destination anywhere but forward, to
# a confirmed version of its own.
GUARD = """
CREATE FUNCTION destinations_active_contract() RETURNS trigger LANGUAGE plpgsql AS $guard$
BEGIN
    IF current_user = 'exports_owner' THEN
        RETURN NEW;
    END IF;
    IF TG_OP = 'INSERT' THEN
        IF NEW.active_contract_id IS NULL THEN
            RETURN NEW;
        END IF;
    ELSIF NEW.active_contract_id IS NOT DISTINCT FROM OLD.active_contract_id THEN
        RETURN NEW;
    ELSIF EXISTS (
        SELECT FROM public.destination_contracts c
        JOIN public.contract_decisions d ON d.contract_id = c.id AND d.decision = 'Confirmed'
        WHERE c.id = NEW.active_contract_id AND c.destination_id = NEW.id
          AND c.version > coalesce((SELECT p.version FROM public.destination_contracts p
                                    WHERE p.id = OLD.active_contract_id), 0)) THEN
        RETURN NEW;
    END IF;
    RAISE EXCEPTION USING ERRCODE = 'XJ007',
        MESSAGE = format('destination %s: a contract is in force only once it is confirmed', NEW.id);
END $guard$;
CREATE TRIGGER tg_destinations_active BEFORE INSERT OR UPDATE ON destinations
    FOR EACH ROW EXECUTE FUNCTION destinations_active_contract();
"""
NO_GUARD = """
DROP TRIGGER tg_destinations_active ON destinations;
DROP FUNCTION destinations_active_contract();
"""


class Migration(migrations.Migration):
    dependencies = [("exports", "0010_rounds")]

    operations = [
        migrations.AlterModelOptions(
            name="destinationcontract",
            options={
                "permissions": (
                    ("confirm_destinationcontract", "Can confirm or decline what another person has agreed"),
                )
            },
        ),
        migrations.AlterModelOptions(
            name="hold",
            options={"permissions": (("release_guard", "Can let a guarded version of an export go on"),)},
        ),
        migrations.CreateModel(
            name="ContractDecision",
            fields=[
                (
                    "contract",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.PROTECT,
                        primary_key=True,
                        related_name="decision",
                        serialize=False,
                        to="exports.destinationcontract",
                    ),
                ),
                ("decision", models.TextField(choices=[("Confirmed", "Confirmed"), ("Declined", "Declined")])),
                ("proposed_by", models.TextField()),
                ("decided_by", models.TextField()),
                ("is_one_person", models.BooleanField(default=False)),
                ("reason", models.TextField()),
                ("decided_at", models.DateTimeField(db_default=exports.models.base.ClockTimestamp())),
            ],
            options={"db_table": "contract_decisions"},
        ),
        migrations.AddConstraint(
            model_name="contractdecision",
            constraint=models.CheckConstraint(
                condition=models.Q(("decision__in", ["Confirmed", "Declined"])), name="ck_contract_decisions_known"
            ),
        ),
        migrations.AddConstraint(
            model_name="contractdecision",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    ("decision", "Declined"),
                    ("is_one_person", True),
                    models.Q(("decided_by", models.F("proposed_by")), _negated=True),
                    _connector="OR",
                ),
                name="ck_contract_decisions_two_persons",
            ),
        ),
        migrations.RunSQL(sql=AUTHOR, reverse_sql=NO_AUTHOR),
        migrations.RunSQL(sql=KEEP, reverse_sql=migrations.RunSQL.noop),
        migrations.RunSQL(sql=GUARD, reverse_sql=NO_GUARD),
    ]
