"""An fsck for exports: what can be checked of the promises over a live database, a rule a file.

A rule is one set-based SELECT under the promise it checks; every row it finds is a violation, or, where its
header says so, a notice: something odd that the evidence explains. Nothing here writes.
"""

from exports.audit.rules import RULES, Rule
from exports.audit.run import Finding, audit

__all__ = ["RULES", "Finding", "Rule", "audit"]
