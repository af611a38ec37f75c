"""Evidence in plain words: what was observed, never what to make of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, assert_never

from exports import evidence as seen
from exports.admin.formats import moment, size
from exports.admin.words import PROOFS

if TYPE_CHECKING:
    from collections.abc import Mapping

NOT_SENT: Mapping[seen.NotSentReason, str] = {
    seen.NotSentReason.OCCUPIED: "the final name was taken",
    seen.NotSentReason.ORIGINAL_FOUND: "the original's file was found",
    seen.NotSentReason.BASELINE_UNKNOWN: "it could not be seen whether the final name was free",
    seen.NotSentReason.APPEND_NOT_CONFIRMED: "the note that it was about to publish could not be kept",
    seen.NotSentReason.DRAINING: "this worker was being shut down",
    seen.NotSentReason.NO_OVERWRITE_FORM: "the server offers no way to publish that cannot overwrite",
    seen.NotSentReason.COULD_NOT_CONNECT: "the partner's server could not be reached",
}

TROUBLES: Mapping[seen.Trouble, str] = {
    seen.Trouble.STATUS: "the server answered with an error",
    seen.Trouble.TIMEOUT: "no answer came in time",
    seen.Trouble.CONNECTION_LOST: "the connection was lost",
    seen.Trouble.PROTOCOL: "the server broke the protocol",
    seen.Trouble.LOCAL: "something failed on our side",
    seen.Trouble.ABANDONED: "it was given up",
}

PHASES: Mapping[seen.Phase, str] = {
    seen.Phase.LOOK: "looking at the final name",
    seen.Phase.OPEN: "opening the temporary file",
    seen.Phase.WRITE: "writing the file",
    seen.Phase.FSYNC: "making the file durable",
    seen.Phase.CLOSE: "closing the file",
    seen.Phase.VERIFY: "checking what was written",
    seen.Phase.COMPANION: "sending a companion file",
}

FORMS: Mapping[seen.PublishForm, str] = {
    seen.PublishForm.LINK: "a link",
    seen.PublishForm.RENAME: "a rename that never overwrites",
    seen.PublishForm.POSIX_RENAME: "a rename that overwrites",
    seen.PublishForm.DIRECT_WRITE: "writing under it directly",
}

CONCLUSIONS: Mapping[seen.Conclusion, str] = {
    seen.Conclusion.COMPLETED: "delivered",
    seen.Conclusion.OUTCOME_UNKNOWN: "not known whether delivered",
    seen.Conclusion.NOT_DELIVERED: "not delivered",
    seen.Conclusion.FINAL_NAME_OCCUPIED: "the final name was taken by something else",
    seen.Conclusion.ORIGINAL_DELIVERED: "the original had been delivered",
}

TIES: Mapping[seen.Bound, str] = {
    seen.Bound.ATTEMPT: "this attempt",
    seen.Bound.ORIGINAL: "the original's delivery",
    seen.Bound.KEY: "the delivery key, which several uploads may share",
}


def say(record: seen.Evidence) -> str:  # noqa: C901, PLR0911, PLR0912 - one line for each kind there is
    """Return one sentence for one record."""
    match record:
        case seen.Baseline(sighting=sighting):
            return f"Before the upload, the final name showed: {sighted(sighting)}."
        case seen.UploadFailed(phase=phase, trouble=trouble, text=text):
            return f"The upload ended while {PHASES[phase]}: {_trouble(trouble, text)}. Nothing was published."
        case seen.NotSent(reason=reason, text=text):
            return f"Did not ask for the final name, because {NOT_SENT[reason]}{_quoted(text)}."
        case seen.PublishSent(form=form, final=final):
            return f"About to ask for the final name {final} by {FORMS[form]}."
        case seen.PublishAnswered(answer=answer):
            return f"The request for the final name: {answered(answer)}."
        case seen.ReadBack(sighting=sighting):
            return f"Afterwards, the final name showed: {sighted(sighting)}."
        case seen.CompanionAnswered(name=name, answer=answer):
            return f"Companion file {name}: {answered(answer)}."
        case seen.TemporaryLeft(name=name, answer=answer):
            return f"The temporary file {name} is still at the partner: {answered(answer)}."
        case seen.Outcome(conclusion=conclusion, proof=proof, reason=reason):
            return f"Concluded: {CONCLUSIONS[conclusion]}, since {PROOFS[proof]}{_quoted(reason)}."
        case seen.ProbeSighting(sighting=sighting, observed_by=by):
            return f"Looked again{_by(by)}; the final name showed: {sighted(sighting)}."
        case seen.Acknowledged(positive=positive, bound=bound, text=text):
            word = "acknowledged" if positive else "refused"
            return f"The partner {word} it, tied to {TIES[bound]}{_quoted(text)}."
        case seen.PartnerStatement(says=says, reference=reference, observed_by=by, observed_at=at):
            told = "is there" if says is seen.Says.PUBLISHED else "is not there"
            return f"The partner said the file {told} ({reference}){_by(by)} at {moment(at).absolute}."
        case seen.AccessRevoked(reference=reference, observed_by=by, observed_at=at):
            return f"This attempt can publish no more ({reference}){_by(by)} at {moment(at).absolute}."
        case seen.Document(reference=reference, observed_by=by, note=note):
            return f"Document {reference}{_by(by)}{_quoted(note)}."
        case seen.Unreadable(why=why):
            return f"Evidence in a form this version cannot read: {why}."
        case _:
            assert_never(record)


def sighted(sighting: seen.Sighting) -> str:
    """Return what one look showed."""
    match sighting:
        case seen.Absent():
            return "no such file"
        case seen.Present():
            return _present(sighting)
        case seen.Forbidden(text=text):
            return f"the server will not say{_quoted(text)}"
        case seen.Unanswered(trouble=trouble, text=text):
            return f"no answer: {_trouble(trouble, text)}"
        case _:
            assert_never(sighting)


def answered(answer: seen.Answer) -> str:
    """Return what a request was answered."""
    match answer:
        case seen.Accepted():
            return "the server did it"
        case seen.Refused(code=code, text=text):
            return f"the server refused (status {code}){_quoted(text)}"
        case seen.NoReply(trouble=trouble, text=text):
            return f"no answer came, so anything may have happened: {_trouble(trouble, text)}"
        case _:
            assert_never(answer)


def _present(sighting: seen.Present) -> str:
    what = "a file" if sighting.regular else "something that is no regular file"
    told = "of unknown size" if sighting.size is None else f"of {size(sighting.size)}"
    return f"{what} {told}" + (f" with SHA-256 {sighting.sha256}" if sighting.sha256 else "")


def _trouble(trouble: seen.Trouble, text: str) -> str:
    return f"{TROUBLES[trouble]}{_quoted(text)}"


def _quoted(text: str) -> str:
    return f" (“{text}”)" if text else ""


def _by(who: str) -> str:
    return f" by {who}" if who else ""
