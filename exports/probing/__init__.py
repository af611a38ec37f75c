"""Trying a destination before it is trusted: what was found there, what that proposes, and what it forbids.

A person asks (exports.actions.request_probe), a worker tries (exports.worker.probes), and everybody reads here.
"""

from exports.probing.problems import activation_problems
from exports.probing.reading import Probe, State, latest, latest_finished
from exports.probing.report import Findings, Outcome, Report, Step, StepName

__all__ = [
    "Findings",
    "Outcome",
    "Probe",
    "Report",
    "State",
    "Step",
    "StepName",
    "activation_problems",
    "latest",
    "latest_finished",
]
