"""What the forms of the verbs share: wrong fields listed on top with a link to each, and a step to check before acting.

No page needs a script: what a person has filled in comes back as they left it, whatever was wrong with it.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, auto
from typing import TYPE_CHECKING, Any

from django import forms
from django.core.exceptions import NON_FIELD_ERRORS

if TYPE_CHECKING:
    from django.forms.boundfield import BoundField
    from django.http import HttpRequest, QueryDict

LONGEST_REASON = 2_000
"""Characters; a reason is read by people in a timeline, not a document."""
LONGEST_LINE = 255
"""Characters of a reference or a source somebody types into one line."""

CONFIRMED, CHANGE = "confirmed", "change"
"""Names of the buttons of the page on which answers are checked."""

LOST = "This page has lost a part of itself. Load it again; nothing was done."


class Step(Enum):
    """Where a person is between opening a form and acting."""

    FILL_IN = auto()
    CHECK = auto()
    ACT = auto()


@dataclass(frozen=True, slots=True)
class Wrong:
    """One thing that is wrong, and the id of the field that it is about."""

    anchor: str
    message: str


class ActForm(forms.Form):
    """A form of a verb; the server says what is wrong, in one place and in our words."""

    use_required_attribute = False

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self.label_suffix = ""
        for field in self.fields.values():
            if str(field.error_messages["required"]) == str(forms.Field.default_error_messages["required"]):
                field.error_messages["required"] = f"“{field.label}” is missing."

    @property
    def wrong(self) -> list[Wrong]:
        """Everything that is wrong, in the order of the fields."""
        names = [*self.fields, NON_FIELD_ERRORS]
        return [Wrong(self._anchor(name), str(message)) for name in names for message in self.errors.get(name, ())]

    def _anchor(self, name: str) -> str:
        if name == NON_FIELD_ERRORS or self[name].is_hidden:
            return "act-form"
        return f"{self[name].auto_id}_0" if self[name].use_fieldset else self[name].auto_id

    @property
    def answers(self) -> list[tuple[str, str]]:
        """What a person has filled in, by label, as they read it."""
        return [(str(field.label), _read(field, self.cleaned_data.get(field.name))) for field in self.visible_fields()]


def sent(request: HttpRequest) -> QueryDict | None:
    """Return what a form was sent with, be it nothing; None when it is only opened."""
    return request.POST if request.method == "POST" else None


def step_of(request: HttpRequest, form: ActForm) -> Step:
    """Tell what a request asks for: to fill the form in, to check the answers, or to act on them."""
    if request.method != "POST" or CHANGE in request.POST or not form.is_valid():
        return Step.FILL_IN
    return Step.ACT if CONFIRMED in request.POST else Step.CHECK


def lines(label: str, *, required: bool = True, help_text: str = "", rows: int = 3, **named: Any) -> forms.CharField:
    """Return a field for a few sentences."""
    return forms.CharField(
        label=label,
        required=required,
        help_text=help_text,
        max_length=LONGEST_REASON,
        widget=forms.Textarea({"rows": rows, "cols": 60}),
        **named,
    )


def line(label: str, *, required: bool = True, help_text: str = "", **named: Any) -> forms.CharField:
    """Return a field for one line."""
    widget = forms.TextInput({"size": 50, "autocomplete": "off"})
    return forms.CharField(
        label=label, required=required, help_text=help_text, max_length=LONGEST_LINE, widget=widget, **named
    )


def choice(label: str, choices: list[tuple[str, str]], *, help_text: str = "", **named: Any) -> forms.ChoiceField:
    """Return a question with a few answers, none of them chosen beforehand."""
    widget = forms.RadioSelect()
    return forms.ChoiceField(label=label, choices=choices, help_text=help_text, widget=widget, **named)


def hidden_id() -> forms.UUIDField:
    """Return the field that carries the id of a click from the page to the act."""
    errors = {"required": LOST, "invalid": LOST}
    return forms.UUIDField(widget=forms.HiddenInput(), error_messages=errors)


def _read(field: BoundField, value: Any) -> str:
    if isinstance(field.field, forms.ChoiceField):
        return str(dict(field.field.choices).get(value, value))  # type: ignore[arg-type] # no groups here
    if value in (None, ""):
        return "—"
    return f"{value:%Y-%m-%d %H:%M %Z}" if hasattr(value, "strftime") else str(value)
