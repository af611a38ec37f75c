"""What this process has done, counted where it happens: one line at the one place of each fact.

Labels are members of closed sets, never a tenant, a partner, a name or a person's words: their number is bounded
and nothing of an export leaks. Imports nothing of the project, so that any layer may count. A process counts for
itself alone; an export that runs alone in a child process is counted there, and the child hands its counts over
(`exports.observability.handing`). One that is killed takes its own with it.
"""

from __future__ import annotations

from typing import Final

from prometheus_client import CollectorRegistry, Counter, Histogram, ProcessCollector

REGISTRY: Final = CollectorRegistry()
ProcessCollector(registry=REGISTRY)

SECONDS: Final = (0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 900, 3600, 14_400)
"""From a database's answer to the longest build there may be."""


def _counter(name: str, what: str, *labels: str) -> Counter:
    return Counter(f"exports_{name}", what, labels, registry=REGISTRY)


policy_decisions = _counter("policy_decisions", "Wake-ups by what policy said.", "decision")
rejections = _counter("rejections", "Exports that policy refused for good, by reason.", "reason")
claims = _counter("claims", "Cutoff 1 by its answer.", "answer")
authorizations = _counter("authorizations", "Cutoff 2 by its word.", "word")
terminal_writes = _counter(
    "terminal_writes", "Last writes of attempts: what was written, and what came of it.", "to", "reason", "answer"
)
verdicts = _counter("verdicts", "Deliveries by conclusion and proof.", "conclusion", "proof")
renewals_failed = _counter("renewals_failed", "Lease renewals that did not succeed.", "why")
takeovers = _counter("takeovers", "Expired attempts by what came of them in a recovery run.", "case")
recovery_unfinished = _counter("recovery_unfinished", "Recovery runs that left expired attempts unvisited.")
dispatched = _counter("dispatched", "Wake-ups published and marked.")
dispatch_failures = _counter("dispatch_failures", "Rounds of the dispatcher that database or broker kept from ending.")
dispatch_held_back = _counter("dispatch_held_back", "Looks of the dispatcher at a broker's queue that was deep enough.")
swept = _counter("swept", "Queued exports woken by the sweeper.")
swept_often = _counter("swept_often", "Of these, exports swept three times or more.")
woken = _counter("woken_after_hold", "Queued exports woken because a hold ended or a slot was freed.")
scavenged = _counter("scavenged", "Files of dead attempts removed from the spool.")
scavenged_at_partners = _counter("scavenged_at_partners", "Temporary names of dead attempts removed at partners.")
cancellations = _counter("cancellations", "Clicks on cancel by their answer.", "outcome")
sftp_errors = _counter("sftp_errors", "What went wrong with a partner, by step and kind.", "step", "kind")
unsettled = _counter("unsettled_messages", "Wake-ups given back to the broker.")
built_rows = _counter("built_rows", "Contacts in finished files.")
built_bytes = _counter("built_bytes", "Bytes of finished files.")
delivered_bytes = _counter("delivered_bytes", "Bytes of files whose delivery was proven by their own attempt.")
sweeps_per_job = Histogram(
    "exports_sweeps_per_job",
    "How often an export had been swept when it was swept now.",
    buckets=(1, 2, 3, 5, 10, 20),
    registry=REGISTRY,
)
phase_seconds = Histogram(
    "exports_phase_seconds",
    "How long a phase of an attempt took, however it ended.",
    ["phase"],
    buckets=SECONDS,
    registry=REGISTRY,
)
