"""The shapes of the API's answers: rows under their own column names, with what can be said about them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from exports.actions.request_cancellation import decide
from exports.models import CancellationRequest, ExportAttemptEvent, ExportJob
from exports.queries.holds import Held, Scope, held_of
from exports.states import CancellationOutcome, Status

if TYPE_CHECKING:
    from collections.abc import Iterable
    from enum import StrEnum
    from uuid import UUID


def _one_of(values: type[StrEnum]) -> dict[str, Any]:
    """Describe a closed set in a second place: as a pattern, since the generator names an enum by its field."""
    return {"type": "string", "pattern": f"^({'|'.join(each.value for each in values)})$"}


class IdField(serializers.UUIDField):
    """An id as text; the framework would also take a number, which no client means."""

    def to_internal_value(self, data: object) -> UUID:
        """Return the id; fail for whatever is no text of one."""
        if not isinstance(data, str):
            self.fail("invalid", value=data)
        return super().to_internal_value(data)


@extend_schema_field(_one_of(Status))
class FoundStatusField(serializers.CharField):
    """A status as it was at some earlier moment."""


class HeldSerializer(serializers.Serializer[Held]):
    """Why a queued export waits."""

    scope = serializers.ChoiceField(choices=[scope.value for scope in Scope])
    reason = serializers.CharField(allow_null=True)
    since = serializers.DateTimeField()
    until = serializers.DateTimeField(allow_null=True)

    def to_representation(self, instance: Held) -> dict[str, Any]:
        """Leave out the reason of a hold on everything: it was not written for one client's eyes."""
        shown = super().to_representation(instance)
        return shown | {"reason": None} if instance.scope is Scope.EVERYTHING else shown


class ExportSerializer(serializers.ModelSerializer[ExportJob]):
    """The job row, what a cancel now would most likely find, and the hold if one keeps it waiting."""

    tenant = serializers.SlugRelatedField[Any](slug_field="slug", read_only=True)
    tenant_id = serializers.UUIDField(read_only=True)
    destination_id = serializers.UUIDField(read_only=True)
    expected_file_sha256 = serializers.SerializerMethodField()
    cancellable = serializers.SerializerMethodField()
    held = serializers.SerializerMethodField()

    class Meta:
        model = ExportJob
        fields: ClassVar = [
            "id",
            "tenant",
            "tenant_id",
            "status",
            "version",
            "destination_id",
            "delivery_key",
            "created_by",
            "created_at",
            "woken_at",
            "sweep_count",
            "attempt_id",
            "attempt_count",
            "claimed_by",
            "lease_expires_at",
            "stop_request_id",
            "cancellation_request_id",
            "delivery_authorized_at",
            "expected_file_name",
            "expected_file_bytes",
            "expected_file_sha256",
            "failure_reason",
            "replaces_job_id",
            "replacement_reason",
            "overwrite_agreement_ref",
            "cancellable",
            "held",
        ]
        read_only_fields = fields

    @extend_schema_field(serializers.CharField(allow_null=True, help_text="Hex."))
    def get_expected_file_sha256(self, job: ExportJob) -> str | None:
        """Return the hash in hex, as every tool prints it."""
        return None if job.expected_file_sha256 is None else bytes(job.expected_file_sha256).hex()

    @extend_schema_field(_one_of(CancellationOutcome))
    def get_cancellable(self, job: ExportJob) -> str:
        """Return the outcome that a cancel would have if nothing changed before it came."""
        return decide(Status(job.status), stop_requested=job.stop_request_id is not None).value

    @extend_schema_field(HeldSerializer(allow_null=True))
    def get_held(self, job: ExportJob) -> dict[str, Any] | None:
        """Return the hold of a queued export, or null."""
        held: dict[UUID, Held] = self.context["held"]
        return HeldSerializer(held[job.id]).data if job.id in held else None


class EventSerializer(serializers.ModelSerializer[ExportAttemptEvent]):
    """One event of one attempt; the detail of DeliveryEvidence is versioned JSON, as text."""

    class Meta:
        model = ExportAttemptEvent
        fields: ClassVar = [
            "id",
            "attempt_id",
            "kind",
            "version",
            "worker_id",
            "observed_by",
            "detail",
            "recorded_at",
        ]
        read_only_fields = fields


class CancellationRequestSerializer(serializers.ModelSerializer[CancellationRequest]):
    """One click on cancel, what it found and its one recorded outcome."""

    request_id = serializers.UUIDField(source="id", read_only=True)
    job_id = serializers.UUIDField(read_only=True)
    outcome = serializers.ChoiceField(choices=[each.value for each in CancellationOutcome], read_only=True)
    found_status = FoundStatusField(read_only=True)

    class Meta:
        model = CancellationRequest
        fields: ClassVar = [
            "request_id",
            "job_id",
            "outcome",
            "found_status",
            "found_attempt_id",
            "found_attempt_count",
            "found_delivery_authorized_at",
            "requested_by",
            "reason",
            "recorded_at",
        ]
        read_only_fields = fields


class ErrorSerializer(serializers.Serializer[Any]):
    """What every refusal looks like."""

    code = serializers.CharField()
    detail = serializers.CharField()


class InvalidSerializer(ErrorSerializer):
    """A refusal of fields, by name."""

    fields_ = serializers.DictField(
        required=False, help_text="By field, what is wrong with it: a list of sentences, or the same by inner field."
    )

    def get_fields(self) -> dict[str, serializers.Field[Any, Any, Any, Any]]:
        """Call the field `fields`, a name that the class itself needs."""
        return {name.rstrip("_"): field for name, field in super().get_fields().items()}


class BusySerializer(ErrorSerializer):
    """A refusal that could not be told from a success; the id makes the next try the same request."""

    id = serializers.UUIDField(required=False, help_text="Of what is created: send it with the next try.")


def represent(job: ExportJob) -> dict[str, Any]:
    """Return one export as the API shows it."""
    return represent_all([job])[0]


def represent_all(jobs: Iterable[ExportJob]) -> list[dict[str, Any]]:
    """Return exports as the API shows them, with one query for all their holds."""
    listed = list(jobs)
    return list(ExportSerializer(listed, many=True, context={"held": held_of(listed)}).data)
