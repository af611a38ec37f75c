"""What went wrong with a partner, read off the evidence as it is recorded."""

from __future__ import annotations

from typing import TYPE_CHECKING

from exports.evidence import Baseline, NoReply, PublishAnswered, ReadBack, Refused, Unanswered, UploadFailed
from exports.observability.counters import sftp_errors

if TYPE_CHECKING:
    from exports.evidence import Evidence


def count_trouble(record: Evidence) -> None:
    """Count a record that tells of trouble; every other record is none of this module's business."""
    match record:
        case UploadFailed(trouble=trouble):
            sftp_errors.labels("upload", trouble).inc()
        case PublishAnswered(NoReply(trouble=trouble)):
            sftp_errors.labels("publish", trouble).inc()
        case PublishAnswered(Refused(code=code)):
            sftp_errors.labels("publish", f"status_{code}").inc()
        case Baseline(Unanswered(trouble=trouble)) | ReadBack(Unanswered(trouble=trouble)):
            sftp_errors.labels("look", trouble).inc()
