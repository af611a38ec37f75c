"""Runs requests under the web process's own database role, whatever role the test itself uses."""

from __future__ import annotations

from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

from django.test import Client

if TYPE_CHECKING:
    from collections.abc import Iterator

_ALIAS: ContextVar[str | None] = ContextVar("alias", default=None)


class RoleRouter:
    """Sends every query to the alias of the moment; to the default outside of any."""

    def db_for_read(self, _model: Any, **_: Any) -> str | None:
        """Return the alias of the moment."""
        return _ALIAS.get()

    db_for_write = db_for_read

    def allow_relation(self, _one: Any, _other: Any, **_: Any) -> bool:
        """All aliases are one database."""
        return True


@contextmanager
def role(alias: str) -> Iterator[None]:
    """Route this thread's queries to one alias."""
    token = _ALIAS.set(alias)
    try:
        yield
    finally:
        _ALIAS.reset(token)


class RoleClient(Client):
    """Django's test client, with each request served under the role of the web process."""

    def __init__(self, alias: str = "api") -> None:
        super().__init__(raise_request_exception=False)
        self.alias = alias

    def request(self, **request: Any) -> Any:
        """Serve one request as exports_api; an exception becomes the answer that a client would get."""
        with role(self.alias):
            return super().request(**request)
