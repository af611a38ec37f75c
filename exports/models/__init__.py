"""The five tables of the reference, one a file, and what this project adds beside them."""

from exports.models.attempt_event import ExportAttemptEvent
from exports.models.cancellation_request import CancellationRequest
from exports.models.contacts import Contact
from exports.models.delivery import Delivery
from exports.models.destinations import ContractDecision, Destination, DestinationContract, DestinationSecret
from exports.models.export_job import ExportJob
from exports.models.history import (
    AcknowledgmentSeen,
    AuthorizedFile,
    CreationRequest,
    ExportRejection,
    OverwriteAgreement,
    TermsChange,
)
from exports.models.operations import AttemptProgress, Hold, ProcessHeartbeat
from exports.models.outbox import OutboxMessage
from exports.models.probes import ProbeRequest, ProbeResult, ProbeRun
from exports.models.sums import HourlySum
from exports.models.tenants import Client, Membership, Tenant

__all__ = [
    "AcknowledgmentSeen",
    "AttemptProgress",
    "AuthorizedFile",
    "CancellationRequest",
    "Client",
    "Contact",
    "ContractDecision",
    "CreationRequest",
    "Delivery",
    "Destination",
    "DestinationContract",
    "DestinationSecret",
    "ExportAttemptEvent",
    "ExportJob",
    "ExportRejection",
    "Hold",
    "HourlySum",
    "Membership",
    "OutboxMessage",
    "OverwriteAgreement",
    "ProbeRequest",
    "ProbeResult",
    "ProbeRun",
    "ProcessHeartbeat",
    "Tenant",
    "TermsChange",
]
