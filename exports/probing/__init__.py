"""Trying a destination before it is trusted: what was found there, what that proposes, and what it forbids.

A person asks (exports.actions.request_probe), a worker tries (exports.worker.probes), and everybody reads here.
"""

from exports.probing.judging import Proposal, propose
from exports.probing.problems import activation_problems
from exports.probing.reading import Probe, State, latest, latest_finished
from exports.probing.report import Findings, Outcome, Report, Step, StepName
from exports.probing.staleness import staleness

__all__ = [
    "Findings",
    "Outcome",
    "Probe",
    "Proposal",
    "Report",
    "State",
    "Step",
    "StepName",
    "activation_problems",
    "latest",
    "latest_finished",
    "propose",
    "staleness",
]
