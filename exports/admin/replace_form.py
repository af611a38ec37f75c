"""What an approver is asked before something is sent again: what no database knows, each with its source (I8)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django import forms

from exports.actions.create_replacement import Answers, Judged, objections_to
from exports.admin.forms import ActForm, choice, hidden_id, line, lines
from exports.models import OverwriteAgreement

if TYPE_CHECKING:
    from exports.models import ExportJob

YES, NO = "yes", "no"
YES_OR_NO = [(YES, "Yes"), (NO, "No")]
NEVERS = "It never overwrites"
MOST_AGREEMENTS = 100
"""Agreements with one destination to choose from, the latest first."""
SAY_WHY = "{} Say why it is sent again nevertheless."
NO_SUCH_AGREEMENT = "That agreement is not on record for this destination."


def _question(label: str, help_text: str) -> forms.ChoiceField:
    return choice(label, YES_OR_NO, help_text=help_text, error_messages={"required": f"{label} Answer yes or no."})


def _source(what: str) -> forms.CharField:
    return line("How do you know?", error_messages={"required": f"Say how you know whether {what}."})


class ReplaceForm(ActForm):
    """The reason, three questions with their sources, and whether it may overwrite."""

    request_id = hidden_id()
    reason = lines("Why is it sent again?", help_text="Kept with the replacement, together with the answers below.")
    may_still_upload = _question(
        "Can the original still write or upload?",
        "A paused worker may go on where it stood. Yes, unless its access has been taken away or it has surely ended.",
    )
    may_still_upload_source = _source("the original can still upload")
    was_tried = _question("Was reconciliation tried?", "Somebody asked the partner what became of the original.")
    was_tried_source = _source("reconciliation was tried")
    deduplicates = _question(
        "Does the partner recognise a repeated delivery by its key?", "If both files arrive, is one of them left out?"
    )
    deduplicates_source = _source("the partner recognises a repeated delivery")
    why_nevertheless = lines(
        "Why nevertheless", required=False, help_text="Needed when an answer speaks against sending again."
    )
    agreement = forms.ChoiceField(
        label="May it replace a file under the final name?",
        required=False,
        widget=forms.Select(),
        error_messages={"invalid_choice": NO_SUCH_AGREEMENT},
    )

    def __init__(self, *arguments: Any, original: ExportJob, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self.original = original
        field = self.fields["agreement"]
        assert isinstance(field, forms.ChoiceField)  # noqa: S101 - declared above
        field.choices = [("", NEVERS), *_agreements(original)]

    def clean(self) -> dict[str, Any]:
        """Ask for the reason that the answers call for, before they are confirmed."""
        cleaned = super().clean() or self.cleaned_data
        if not self.errors and not cleaned["why_nevertheless"]:
            objections = objections_to(self.original, self.judged)
            if objections:
                self.add_error("why_nevertheless", SAY_WHY.format(" ".join(objections)))
        return cleaned

    @property
    def judged(self) -> Answers:
        """The answers as the action takes them."""
        return Answers(
            original_may_still_upload=self._judged("may_still_upload"),
            reconciliation_was_tried=self._judged("was_tried"),
            partner_deduplicates=self._judged("deduplicates"),
            why_nevertheless=self.cleaned_data["why_nevertheless"],
        )

    def _judged(self, name: str) -> Judged:
        return Judged(yes=self.cleaned_data[name] == YES, source=self.cleaned_data[f"{name}_source"])


def _agreements(original: ExportJob) -> list[tuple[str, str]]:
    recorded = OverwriteAgreement.objects.filter(tenant_id=original.tenant_id, destination_id=original.destination_id)
    return [
        (each.ref, f"Yes, by {each.ref}: {each.agreed_by}, {each.agreed_at:%Y-%m-%d}")
        for each in recorded.order_by("-recorded_at")[:MOST_AGREEMENTS]
    ]
