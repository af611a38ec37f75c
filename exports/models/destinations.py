"""Where exports go: a partner's destination, its versioned contract, and its sealed credentials."""

from __future__ import annotations

import uuid

from django.db import models

from exports.models.base import ClockTimestamp
from exports.models.tenants import Tenant
from exports.states import Decision


class Destination(models.Model):
    """A partner's place to receive a tenant's exports, judged by its active contract.

    A disabled destination refuses new work by policy; one without an active contract holds it.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    tenant = models.ForeignKey(Tenant, on_delete=models.PROTECT, related_name="destinations")
    name = models.CharField(max_length=200)
    is_enabled = models.BooleanField(default=True)
    active_contract = models.ForeignKey(
        "exports.DestinationContract", on_delete=models.PROTECT, related_name="+", null=True, blank=True
    )

    class Meta:
        db_table = "destinations"
        ordering = ("name",)
        constraints = (models.UniqueConstraint(fields=("tenant", "name"), name="uq_destinations_tenant_name"),)

    def __str__(self) -> str:
        return self.name


class DestinationSecret(models.Model):
    """A partner's credential, encrypted with the credential keyring; only workers and collectors may read it."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    destination = models.ForeignKey(Destination, on_delete=models.PROTECT, related_name="secrets")
    ciphertext = models.BinaryField()
    created_by = models.TextField()
    created_at = models.DateTimeField(db_default=ClockTimestamp())

    class Meta:
        db_table = "destination_secrets"

    def __str__(self) -> str:
        return f"secret {self.id}"


class DestinationContract(models.Model):
    """One version of what was agreed with the partner; append-only. In force once a second person has confirmed it.

    `terms` is the JSON of exports.contracts.Contract; its auth.secret_id names the destination's secret. The
    claim records this row's id in its event, and the whole attempt, its recovery and its reconciliation judge by
    that version.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    destination = models.ForeignKey(Destination, on_delete=models.PROTECT, related_name="contracts")
    version = models.PositiveIntegerField()
    terms = models.JSONField()
    reason = models.TextField()
    created_by = models.TextField()
    created_at = models.DateTimeField(db_default=ClockTimestamp())

    class Meta:
        db_table = "destination_contracts"
        permissions = (("confirm_destinationcontract", "Can confirm or decline what another person has agreed"),)
        constraints = (
            models.UniqueConstraint(fields=("destination", "version"), name="uq_destination_contracts_version"),
        )

    def __str__(self) -> str:
        return f"{self.destination_id} v{self.version}"


class ContractDecision(models.Model):
    """What a second person decided about a proposed version; append-only, one for a version.

    Only a confirmed version can become a destination's active one. `is_one_person`: who confirmed it had
    written it, or a version it builds upon, which a setting allowed.
    """

    contract = models.OneToOneField(
        DestinationContract, on_delete=models.PROTECT, primary_key=True, related_name="decision"
    )
    decision = models.TextField(choices=[(each.value, each.value) for each in Decision])
    proposed_by = models.TextField()
    decided_by = models.TextField()
    is_one_person = models.BooleanField(default=False)
    reason = models.TextField()
    decided_at = models.DateTimeField(db_default=ClockTimestamp())

    class Meta:
        db_table = "contract_decisions"
        constraints = (
            models.CheckConstraint(
                condition=models.Q(decision__in=[each.value for each in Decision]), name="ck_contract_decisions_known"
            ),
            models.CheckConstraint(
                condition=models.Q(decision=Decision.DECLINED.value)
                | models.Q(is_one_person=True)
                | ~models.Q(decided_by=models.F("proposed_by")),
                name="ck_contract_decisions_two_persons",
            ),
        )

    def __str__(self) -> str:
        return f"{self.decision} by {self.decided_by}"
