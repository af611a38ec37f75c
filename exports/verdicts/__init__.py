"""The one table from evidence and contract to a verdict: used by worker, recovery, acknowledgments, screens.

Pure: `judge` takes a `Case` and who asks, and returns a `Verdict`. `ROWS` is the table itself, for the pages
that explain it.
"""

from exports.verdicts.boxes import Row
from exports.verdicts.facts import (
    Aftermath,
    Asker,
    Before,
    Facts,
    JobRole,
    PartnerWord,
    Publishing,
    Start,
    start_of,
)
from exports.verdicts.judging import Verdict, is_delivered, judge, may_conclude, verdict_on
from exports.verdicts.reading import DEFINITE_REFUSALS, Case, facts_of
from exports.verdicts.table import ROWS, row_for

__all__ = [
    "DEFINITE_REFUSALS",
    "ROWS",
    "Aftermath",
    "Asker",
    "Before",
    "Case",
    "Facts",
    "JobRole",
    "PartnerWord",
    "Publishing",
    "Row",
    "Start",
    "Verdict",
    "facts_of",
    "is_delivered",
    "judge",
    "may_conclude",
    "row_for",
    "start_of",
    "verdict_on",
]
