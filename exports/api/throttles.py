"""How much one client may ask for in a minute (SECURITY: flooding).

Counted by each web process for itself: what is bounded is what one of them has to do, and a count that all shared
would cost every request a write. Cancelling is counted apart: nothing a client does uses it up.
"""

from __future__ import annotations

import threading
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Final, assert_never

from django.core.cache import caches
from rest_framework.permissions import SAFE_METHODS
from rest_framework.throttling import SimpleRateThrottle

from exports.conf import limits

if TYPE_CHECKING:
    from rest_framework.request import Request
    from rest_framework.views import APIView

CACHE: Final = "throttles"
"""A cache of its own: nothing else can push the counts out of it."""
MINUTE_SECONDS: Final = 60

_lock = threading.Lock()


class Kind(StrEnum):
    """What is counted together."""

    READ = "read"
    WRITE = "write"
    CANCEL = "cancel"


class ClientThrottle(SimpleRateThrottle):
    """The framework's sliding minute, by client and by kind of request, whole under a lock."""

    cache = caches[CACHE]
    rate = "from the settings"
    scope = "client"

    def parse_rate(self, rate: str | None) -> tuple[int | None, int | None]:
        """Leave the rate open until the request is known."""
        del rate
        return None, None

    def allow_request(self, request: Request, view: APIView) -> bool:
        """Tell whether this request is still within its minute, and count it if so."""
        self.kind = kind_of(request, view)
        self.num_requests, self.duration = per_minute(self.kind), MINUTE_SECONDS
        with _lock:  # reading and writing the count is one step, however many threads ask
            return super().allow_request(request, view)

    def get_cache_key(self, request: Request, view: Any) -> str:  # noqa: ARG002 - the interface's
        """Return the name under which this client's requests of this kind are counted, whatever token they carry."""
        return f"{self.kind}:{request.user.pk}"


def kind_of(request: Request, view: APIView) -> Kind:
    """Tell what a request is counted as."""
    if request.method in SAFE_METHODS:
        return Kind.READ
    return Kind(getattr(view, "writes_are", Kind.WRITE))


def per_minute(kind: Kind) -> int:
    """Return how many requests of a kind are answered in a minute."""
    match kind:
        case Kind.READ:
            return limits().api_reads_per_minute
        case Kind.WRITE:
            return limits().api_writes_per_minute
        case Kind.CANCEL:
            return limits().api_cancels_per_minute
        case _:
            assert_never(kind)
