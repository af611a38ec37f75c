"""The one table from facts to conclusions. Every cell of the product of facts lies in exactly one row.

A row is a box: for each fact the values it covers, all values where none are named. A test walks the whole
product and finds exactly one row for each cell, so the order of the rows means nothing and none hides another.
The rows follow the reference's rules for delivery, recovery and replacements: what is uncertain stays
OutcomeUnknown (I6), a conclusion of Completed names its proof, and NotDelivered is never drawn from an absent
file alone.
"""

from functools import cache
from typing import Final

from exports.verdicts.boxes import Row
from exports.verdicts.facts import Facts
from exports.verdicts.sent import accepted, not_accepted, refused, unanswered
from exports.verdicts.unsent import denied_for_good, never_sent, partners_word

ROWS: Final[tuple[Row, ...]] = (
    *partners_word(),
    *denied_for_good(),
    *never_sent(),
    *accepted(),
    *not_accepted(),
    *unanswered(),
    *refused(),
)
"""The table. `row_for` finds the one row of a cell."""


@cache
def row_for(facts: Facts) -> Row:
    """Return the row that covers these facts; a test proves that there is exactly one."""
    return next(row for row in ROWS if row.covers(facts))
