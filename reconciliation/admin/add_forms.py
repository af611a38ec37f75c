"""What a person can put beside the worker's evidence: a form for each kind, and the record it makes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from django import forms

from exports.admin.agreements import past_moment
from exports.admin.forms import ActForm, choice, line, lines
from exports.evidence import AccessRevoked, Document, PartnerStatement, Says

if TYPE_CHECKING:
    from reconciliation.actions.add_evidence import Learned

LARGEST_FILE_BYTES = 2**63 - 1
SHA256 = r"^[0-9A-Fa-f]{64}$"
NOTE = "As few words as it takes. Names of contacts do not belong here."


class EvidenceForm(ActForm):
    """What every kind has: the attempt it is about, where it is written down, and when it was learned."""

    title: ClassVar[str]

    attempt_id = forms.ChoiceField(
        label="Which attempt is it about?", widget=forms.Select(), error_messages={"required": "Choose an attempt."}
    )
    reference = line("Reference", help_text="A ticket, a mail, a letter: where somebody else finds it.")
    observed_at = past_moment("When was it learned?")
    note = lines("Note", required=False, help_text=NOTE, rows=2)

    def __init__(self, *arguments: Any, attempts: list[tuple[str, str]], **named: Any) -> None:
        super().__init__(*arguments, **named)
        field = self.fields["attempt_id"]
        assert isinstance(field, forms.ChoiceField)  # noqa: S101 - declared above
        field.choices = attempts

    def record(self, observed_by: str) -> Learned:
        """Return the evidence in this person's name."""
        raise NotImplementedError

    @property
    def common(self) -> dict[str, Any]:
        """The values that every kind has."""
        return {name: self.cleaned_data[name] for name in ("reference", "observed_at", "note")}


class StatementForm(EvidenceForm):
    """What somebody at the partner said; it proves a delivery only where it describes our file."""

    title = "What the partner said"

    says = choice(
        "What did the partner say?",
        [(Says.PUBLISHED.value, "The file is there"), (Says.NOT_PUBLISHED.value, "The file is not there")],
        error_messages={"required": "Choose what the partner said."},
    )
    size = forms.IntegerField(
        label="Size of their file in bytes",
        required=False,
        min_value=0,
        max_value=LARGEST_FILE_BYTES,
        widget=forms.NumberInput({"autocomplete": "off"}),
        help_text="As the partner read it out to you, not as this console shows it.",
    )
    sha256 = forms.RegexField(
        SHA256,
        label="SHA-256 of their file",
        required=False,
        widget=forms.TextInput({"size": 70, "autocomplete": "off", "spellcheck": "false"}),
        help_text="64 digits and letters from a to f.",
        error_messages={"invalid": "A SHA-256 has 64 characters: digits, and letters from a to f."},
    )

    field_order = ["attempt_id", "says", "size", "sha256", "reference", "observed_at", "note"]

    def record(self, observed_by: str) -> Learned:
        """Return the partner's statement."""
        described = {"size": self.cleaned_data["size"], "sha256": self.cleaned_data["sha256"].lower() or None}
        return PartnerStatement(
            says=Says(self.cleaned_data["says"]), observed_by=observed_by, **described, **self.common
        )


class RevokedForm(EvidenceForm):
    """That the attempt's access or upload slot was taken away, so that it can publish no more."""

    title = "Its access was taken away"

    def record(self, observed_by: str) -> Learned:
        """Return that it can publish no more."""
        return AccessRevoked(observed_by=observed_by, **self.common)


class DocumentForm(EvidenceForm):
    """A ticket or document that bears on it; it proves nothing by itself."""

    title = "A ticket or document"

    def record(self, observed_by: str) -> Learned:
        """Return the reference."""
        return Document(observed_by=observed_by, **self.common)


KINDS: dict[str, type[EvidenceForm]] = {"statement": StatementForm, "revoked": RevokedForm, "document": DocumentForm}
"""The kinds, by the word in the address."""
