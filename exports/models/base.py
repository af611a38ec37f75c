"""What the models of statement-owned tables share."""

from __future__ import annotations

from typing import Any, NoReturn

from django.db import models
from django.db.models import Func

from exports.errors import AppendOnly


class ClockTimestamp(Func):
    """The database's clock at the moment of evaluation, as the column default (STYLE: time is the database's)."""

    function = "clock_timestamp"
    arity = 0
    output_field = models.DateTimeField()


class StatementOwned(models.Model):
    """A row that only the statements of exports/sql and reconciliation/sql write (I1, I2).

    Raising here is a courtesy to whoever types save(); the database's grants and triggers decide (I7, I10).
    """

    class Meta:
        abstract = True

    def save(self, *_: Any, **__: Any) -> NoReturn:
        """Refuse: raise AppendOnly."""
        raise AppendOnly

    def delete(self, *_: Any, **__: Any) -> NoReturn:
        """Refuse: raise AppendOnly."""
        raise AppendOnly


def bare_reference(to: str, **options: Any) -> Any:
    """Return a foreign key for the ORM's joins only: constraint and index are the SQL's own business."""
    return models.ForeignKey(
        to, on_delete=models.DO_NOTHING, db_constraint=False, db_index=False, related_name="+", **options
    )
