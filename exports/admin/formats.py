"""Times, sizes and texts as people read them; the exact value is always beside the short one."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.utils import timezone
from django.utils.html import format_html

if TYPE_CHECKING:
    from datetime import datetime

    from django.utils.safestring import SafeString

_STEPS = ((86_400.0, "d"), (3_600.0, "h"), (60.0, "min"), (1.0, "s"))
_SOON_SECONDS = 1.0
_BYTE_UNITS = ("KB", "MB", "GB", "TB")
_THOUSAND = 1000


def duration(seconds: float) -> str:
    """Return a length of time in its two largest units: `3 min 20 s`; never a negative one."""
    left = max(seconds, 0.0)
    parts = []
    for size, unit in _STEPS:
        count, left = divmod(left, size)
        if count:
            parts.append(f"{count:.0f} {unit}")
        elif parts:
            break
    return " ".join(parts[:2]) or "under 1 s"


@dataclass(frozen=True, slots=True)
class Moment:
    """A point in time, exact and as seen from now."""

    at: datetime
    now: datetime

    @property
    def iso(self) -> str:
        """For machines."""
        return self.at.isoformat()

    @property
    def absolute(self) -> str:
        """For people and print, with its zone."""
        local = timezone.localtime(self.at)
        return f"{local:%Y-%m-%d %H:%M:%S} {local.tzname()}"

    @property
    def relative(self) -> str:
        """As seen from now. Clocks of two machines differ a little; that is no trip to the future."""
        seconds = (self.now - self.at).total_seconds()
        if seconds < -_SOON_SECONDS:
            return f"in {duration(-seconds)}"
        return "just now" if seconds < _SOON_SECONDS else f"{duration(seconds)} ago"

    @property
    def html(self) -> SafeString:
        """The short form with the exact one on hover, and in print."""
        return format_html(
            '<time datetime="{}" title="{}">{}<span class="exact"> ({})</span></time>',
            self.iso,
            self.absolute,
            self.relative,
            self.absolute,
        )


def moment(at: datetime, now: datetime | None = None) -> Moment:
    """Return a time as seen from now."""
    return Moment(at, now or timezone.now())


def ago(at: datetime, now: datetime | None = None) -> SafeString:
    """Return how long ago, with the exact time on hover and in print."""
    return moment(at, now).html


def code(text: object) -> SafeString:
    """Return an id, key, name or hash, set so that one click selects it whole."""
    return format_html('<span class="id">{}</span>', text)


def size(count: int, *, exact: bool = True) -> str:
    """Return a number of bytes in a unit that fits, and exactly unless told otherwise."""
    if count < _THOUSAND:
        return f"{count} bytes"
    power = min(int(math.log10(count)) // 3, len(_BYTE_UNITS))
    beside = f" ({count:,} bytes)" if exact else ""
    return f"{count / _THOUSAND**power:.1f} {_BYTE_UNITS[power - 1]}{beside}"
