"""Births: an original with its key, and a replacement that carries one (reference: The Tables)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from exports.managers.base import StatementManager

if TYPE_CHECKING:
    from uuid import UUID

    from exports.states import Written


class CreationStatements(StatementManager):
    """Statements of exports_api that bring an export into being."""

    def create_export(
        self, *, job_id: UUID, tenant_id: UUID, destination_id: UUID, delivery_key: str, created_by: str
    ) -> Written:
        """Write the job, its delivery key, its creation request and its first wake-up, or none of them.

        IntegrityError (a taken id or key) passes through: nothing was written.
        """
        return self.written(
            "create_export",
            job_id=job_id,
            tenant_id=tenant_id,
            destination_id=destination_id,
            delivery_key=delivery_key,
            created_by=created_by,
        )

    def create_replacement(
        self,
        *,
        job_id: UUID,
        tenant_id: UUID,
        original_job_id: UUID,
        created_by: str,
        replacement_reason: str,
        overwrite_agreement_ref: str | None,
    ) -> Written:
        """Write a replacement of an original that may be replaced; REFUSED when it may not.

        IntegrityError on uq_export_jobs_one_replacement passes through: another replacement holds the slot.
        """
        return self.written(
            "create_replacement",
            job_id=job_id,
            tenant_id=tenant_id,
            original_job_id=original_job_id,
            created_by=created_by,
            replacement_reason=replacement_reason,
            overwrite_agreement_ref=overwrite_agreement_ref,
        )
