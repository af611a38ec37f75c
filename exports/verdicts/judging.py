"""A verdict: what the evidence of one attempt proves under its contract, to whoever asks."""

from dataclasses import dataclass, replace

from exports.contracts import Contract
from exports.evidence import Conclusion, Proof
from exports.verdicts.facts import Asker, Facts, Publishing
from exports.verdicts.reading import Case, facts_of
from exports.verdicts.table import row_for


@dataclass(frozen=True)
class Verdict:
    """What is concluded, from which kind of proof, why in words, and the name of the row that says so."""

    conclusion: Conclusion
    proof: Proof
    reason: str
    row: str


def judge(case: Case, asker: Asker) -> Verdict:
    """Return the verdict on a case. Pure and total: any evidence has one, at worst OutcomeUnknown (I6)."""
    facts = facts_of(case)
    return capped(verdict_on(facts), facts, case.contract, asker)


def verdict_on(facts: Facts) -> Verdict:
    """Return what the table says about these facts, to somebody who may conclude everything."""
    row = row_for(facts)
    return Verdict(row.conclusion, row.proof, row.reason, row.name)


def is_delivered(case: Case) -> bool:
    """Whether the file itself is proven to stand there, so that its companions may announce it."""
    facts = replace(facts_of(case), announced=True)
    return verdict_on(facts).conclusion is Conclusion.COMPLETED


def capped(verdict: Verdict, facts: Facts, contract: Contract, asker: Asker) -> Verdict:
    """Hold the verdict to what `asker` may conclude; beyond that the outcome stays unknown."""
    if verdict.conclusion is Conclusion.OUTCOME_UNKNOWN or may_conclude(verdict, facts, contract, asker):
        return verdict
    reason = f"{verdict.reason}; concluding {verdict.conclusion} from this is not the {asker}'s to do"
    return replace(verdict, conclusion=Conclusion.OUTCOME_UNKNOWN, proof=Proof.NONE, reason=reason)


def may_conclude(verdict: Verdict, facts: Facts, contract: Contract, asker: Asker) -> bool:
    """Whether this asker may conclude this (the table of states says who may write what).

    A worker finds Completed only after an accepted publish: without an answer it stays unknown until somebody
    else has looked. Recovery finds Completed or nothing, and leaves people's statements to people. The
    acknowledgment rule needs a contract that lets it complete, and an acknowledgment or a hash. Reconciliation
    settles Completed or NotDelivered.
    """
    completed = verdict.conclusion is Conclusion.COMPLETED
    match asker:
        case Asker.WORKER:
            return not completed or facts.publishing is Publishing.ACCEPTED
        case Asker.RECOVERY:
            return completed and verdict.proof is not Proof.STATEMENT
        case Asker.ACKNOWLEDGER:
            automatic = contract.verification.acknowledgment.completes_automatically
            return completed and automatic and verdict.proof in (Proof.ACKNOWLEDGMENT, Proof.HASH)
        case Asker.RECONCILER:
            return completed or verdict.conclusion is Conclusion.NOT_DELIVERED
