"""Who did what to an account, a token or a destination: Django's own log, which the console adds to and never edits."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.contrib.admin.models import LogEntry
from django.contrib.contenttypes.models import ContentType

if TYPE_CHECKING:
    from django.db.models import Model, QuerySet
    from django.http import HttpRequest

SHOWN = 10
"""Entries on a page; all of them are in the table."""


def record(request: HttpRequest, obj: Model, flag: int, words: str) -> None:
    """Keep who did what to something, and when; the words hold no secret."""
    assert request.user.pk is not None, "only who is signed in acts"  # noqa: S101 - a view's bug
    LogEntry.objects.create(
        user_id=request.user.pk,
        content_type=ContentType.objects.get_for_model(type(obj)),
        object_id=str(obj.pk),
        object_repr=str(obj)[:200],
        action_flag=flag,
        change_message=words,
    )


def recorded(obj: Any) -> QuerySet[LogEntry]:
    """Return the latest entries about something, newest first."""
    kind = ContentType.objects.get_for_model(type(obj))
    entries = LogEntry.objects.filter(content_type=kind, object_id=str(obj.pk)).select_related("user")
    return entries.order_by("-action_time", "-id")[:SHOWN]
