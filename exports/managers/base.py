"""How a manager runs a statement on its own database alias."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.db import models

from exports import sql
from exports.states import Written

if TYPE_CHECKING:
    from exports.sql import Row


class StatementManager(models.Manager[Any]):
    """A manager whose writes are registered statements; reads are its ordinary QuerySet."""

    def one(self, name: str, **params: Any) -> Row | None:
        """Run a statement that touches at most one job; None means it changed nothing."""
        return sql.fetch_one(name, self.db, params)

    def written(self, name: str, **params: Any) -> Written:
        """Run a conditional write and say whether it applied."""
        return Written.REFUSED if self.one(name, **params) is None else Written.APPLIED

    def ids(self, name: str, **params: Any) -> list[Any]:
        """Run a batch statement and return the first column of its rows."""
        return [row[0] for row in sql.fetch_all(name, self.db, params)]
