"""The contract with one partner: everything an attempt, recovery and reconciliation judge a delivery by."""

from dataclasses import dataclass, field
from typing import Any, Final, Self

from exports.contracts import agreement
from exports.contracts.parts import (
    Auth,
    Companion,
    Endpoint,
    Guards,
    HostKey,
    Limits,
    Paths,
    Payload,
    People,
    Permissions,
    Publish,
    PublishMode,
    Retention,
    Verification,
)
from exports.errors import ExportError
from exports.typed_json import Problems, from_plain, to_plain

FORMAT: Final = 1
"""Version of the JSON form. A reader refuses a form it does not know instead of guessing."""


class ContractError(ExportError):
    """The JSON is no valid contract. `errors` maps field paths to what is wrong with them."""

    def __init__(self, errors: Problems) -> None:
        self.errors: Final = errors
        said = "; ".join(f"{path or 'contract'}: {', '.join(words)}" for path, words in errors.items())
        super().__init__(said)


@dataclass(frozen=True)
class Contract:
    """One version of a destination's contract. Immutable; a change is a new version.

    The smallest one names an endpoint's host, a user, a secret's id, a pinned host key and a directory.
    """

    endpoint: Endpoint
    paths: Paths
    auth: Auth = field(default_factory=Auth)
    host_keys: tuple[HostKey, ...] = ()
    publish: Publish = field(default_factory=Publish)
    permissions: Permissions = field(default_factory=Permissions)
    verification: Verification = field(default_factory=Verification)
    consumes_at_once: bool = False
    companions: tuple[Companion, ...] = ()
    payload: Payload = field(default_factory=Payload)
    limits: Limits = field(default_factory=Limits)
    guards: Guards = field(default_factory=Guards)
    retention: Retention = field(default_factory=Retention)
    people: People = field(default_factory=People)

    @classmethod
    def from_json(cls, raw: object) -> Self:
        """Read a contract from the plain values of its JSON form; ContractError names every problem."""
        values = dict(raw) if isinstance(raw, dict) else raw
        problems: Problems = {}
        if isinstance(values, dict) and values.pop("format", FORMAT) != FORMAT:
            problems["format"] = [f"must be {FORMAT}"]
        contract = from_plain(cls, values, problems)
        if contract is not None:
            problems = agreement.problems_of(contract)
        if contract is None or problems:
            raise ContractError(problems)
        return contract

    def to_json(self) -> dict[str, Any]:
        """Return the plain values of the JSON form, which `from_json` reads back equal."""
        return {"format": FORMAT, **to_plain(self)}

    def final_name(self, delivery_key: str) -> str:
        """Return the final name of a delivery: a function of its key and nothing else that varies (I8)."""
        return f"{self.paths.final_prefix}{delivery_key}{self.paths.final_suffix}"

    @property
    def baseline_may_be_forbidden(self) -> bool:
        """Whether an upload may start although the server tells nothing about the final name."""
        return not self.permissions.may_stat

    @property
    def publishes_in_one_step(self) -> bool:
        """Whether the final name only ever appears with its whole content."""
        return self.publish.mode is not PublishMode.DIRECT_WRITE
