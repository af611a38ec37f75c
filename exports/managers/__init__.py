"""Raw-SQL managers: one method a statement; reads are ordinary QuerySets."""

from exports.managers.attempt import AttemptStatements
from exports.managers.cancellation import CancellationRequestManager, CancellationStatements
from exports.managers.creation import CreationStatements
from exports.managers.events import AttemptEventManager
from exports.managers.queue import OutboxManager, QueueStatements


class ExportJobManager(CreationStatements, AttemptStatements, CancellationStatements, QueueStatements):
    """Every statement of the exports app that writes to the job row."""


__all__ = ["AttemptEventManager", "CancellationRequestManager", "ExportJobManager", "OutboxManager"]
