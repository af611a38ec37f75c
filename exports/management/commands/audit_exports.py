"""Check the promises over the whole database: `violations: 0`, or a line per violation and exit 1."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

from django.core.management.base import BaseCommand, CommandParser

from exports.audit import RULES, audit

if TYPE_CHECKING:
    from collections.abc import Iterable

    from exports.audit import Finding


class Command(BaseCommand):
    """Reads only, as exports_auditor; safe beside running workers, since each rule sees one snapshot."""

    help = __doc__ or ""
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: CommandParser) -> None:
        """Take --json: one object instead of lines."""
        parser.add_argument("--json", action="store_true", help="print one JSON object")

    def handle(self, *_: Any, **options: Any) -> None:
        """Print what was found; exit 1 when any of it is a violation."""
        found = audit()
        violations = self._as_json(found) if options["json"] else self._as_lines(found)
        if violations:
            sys.exit(1)

    def _as_lines(self, found: Iterable[Finding]) -> int:
        violations = 0
        for finding in found:
            violations += finding.rule.is_violation
            self.stdout.write(str(finding) if finding.rule.is_violation else f"notice: {finding}")
        self.stdout.write(f"violations: {violations}")
        return violations

    def _as_json(self, found: Iterable[Finding]) -> int:
        findings = list(found)
        violations = sum(finding.rule.is_violation for finding in findings)
        report = {
            "violations": violations,
            "findings": [_plain(finding) for finding in findings],
            "rules": [{"rule": rule.name, "promise": rule.promise, "words": rule.words} for rule in RULES],
        }
        self.stdout.write(json.dumps(report, indent=2))
        return violations


def _plain(finding: Finding) -> dict[str, Any]:
    return {
        "promise": finding.rule.promise,
        "rule": finding.rule.name,
        "violation": finding.rule.is_violation,
        "subject": finding.subject,
        "found": finding.found,
    }
