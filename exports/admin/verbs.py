"""The verbs of the job's page and the panels beside its history: a small registry, open to the apps above.

A verb is one screen under the job's URL. The page finds the export within the person's reach, checks the
permission and only then calls the verb's view; the view's action checks again under the row's lock. Registered
before URLs are first read, so in the app's ready().
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    from django.http import HttpRequest
    from django.http.response import HttpResponseBase

    from exports.models import ExportJob
    from exports.queries.history import History


@dataclass(frozen=True, slots=True)
class Screen:
    """A further page of a verb: its route below the verb's own, and a view that also takes what the route captures."""

    route: str
    name: str
    view: Callable[..., HttpResponseBase]


@dataclass(frozen=True, slots=True)
class Verb:
    """One thing a person can do to one export.

    `name` is the URL's last segment, `permission` a codename of this app's permissions, `offered` whether the
    page offers it in this state (a link is a hint, the verb decides), `view` the screen for GET and POST, `screens`
    the pages below it; each of them is opened only to whoever may use the verb, and where it `asks_again` only to
    whoever gave their second factor lately.
    """

    name: str
    label: str
    permission: str
    view: Callable[[HttpRequest, ExportJob], HttpResponseBase]
    offered: Callable[[ExportJob], bool]
    is_dangerous: bool = False
    asks_again: bool = False
    screens: tuple[Screen, ...] = ()

    def allowed(self, request: HttpRequest) -> bool:
        """Tell whether this person may use the verb at all."""
        return request.user.has_perm(f"exports.{self.permission}")


@dataclass(frozen=True, slots=True)
class Panel:
    """A part of the job's page that another app contributes: a template and what it shows.

    `context` returns None where the panel has nothing to say.
    """

    template: str
    context: Callable[[HttpRequest, History], dict[str, Any] | None]


_verbs: dict[str, Verb] = {}
_panels: list[Panel] = []


def register_verb(verb: Verb) -> None:
    """Add a verb; a name may be taken only once."""
    if _verbs.setdefault(verb.name, verb) is not verb:
        raise ValueError(f"two verbs are called {verb.name}")


def register_panel(panel: Panel) -> None:
    """Add a panel after those that are there."""
    _panels.append(panel)


def verbs() -> tuple[Verb, ...]:
    """Return every verb, in the order of registration."""
    return tuple(_verbs.values())


def panels() -> tuple[Panel, ...]:
    """Return every panel, in the order of registration."""
    return tuple(_panels)


def offered_to(request: HttpRequest, job: ExportJob) -> list[Verb]:
    """Return the verbs that this person may use and that make sense in this state."""
    return [verb for verb in verbs() if verb.allowed(request) and verb.offered(job)]
