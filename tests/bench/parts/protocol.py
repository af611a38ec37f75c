"""Lives per second, delivered nowhere, against pgbench sending the same statements to the same server."""

from __future__ import annotations

import json
import re
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING

from exports.contracts import Auth, Contract, Endpoint, HostKey, Paths, Permissions, Verification
from exports.sql import STATEMENTS
from tests.bench import programs
from tests.bench.figures import Figure, median, spread
from tests.bench.helpers import Helper, helper
from tests.bench.life import ROWS, SHA256, SIZE, WORKER
from tests.bench.places import Place, a_place

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.bench.bench import Bench

AT_ONCE = (1, 4, 16)
THREADS_A_PROCESS = 4
"""Slots of one worker process in the documented deployment."""
ROUNDS = 3
SECONDS = 3.0
MUST = 0.7

NULL_TERMS = Contract(
    endpoint=Endpoint(host="nowhere.example"),
    paths=Paths(directory="/"),
    auth=Auth(user="nobody", secret_id="none"),
    host_keys=(HostKey("ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIL5Qmx1JPdO1PNFgmUlJNlOWLGBk9MiFKKAoC4/rMEZ5"),),
    permissions=Permissions(may_read=True),
    verification=Verification(read_back=True),
)


def run(bench: Bench) -> Iterator[Figure]:
    """Yield lives per second at 1, 4 and 16 at once, each round of ours beside one of pgbench's."""
    pgbench = programs.postgres_client(bench, "pgbench")
    place = a_place(NULL_TERMS)
    script = bench.directory / "protocol.pgbench"
    script.write_text(script_of(place))
    for at_once in AT_ONCE:
        with _processes(bench, place, at_once) as children:
            rounds = [(_ours(children), _pgbench(bench, pgbench, str(script), at_once)) for _ in range(ROUNDS)]
        ours, theirs = (list(each) for each in zip(*rounds, strict=True))
        ratios = [mine / other for mine, other in rounds]
        words = f"{median(ours):.0f} lives/s, pgbench {median(theirs):.0f}; rounds {spread(ratios)}"
        bound = MUST if at_once == max(AT_ONCE) else None
        yield Figure(f"lives at once: {at_once}", median(ratios), "of pgbench", at_least=bound, beside=words)


@contextmanager
def _processes(bench: Bench, place: Place, at_once: int) -> Iterator[list[Helper]]:
    """Run lives in as many worker-like processes as that many at once take."""
    threads = min(at_once, THREADS_A_PROCESS)
    told = {
        "tenant": str(place.tenant.id),
        "destination": str(place.destination.id),
        "contract": str(place.contract.id),
        "terms": place.contract.terms,
    }
    arguments = [str(threads), str(SECONDS), json.dumps(told)]
    with ExitStack() as stack:
        children = [
            stack.enter_context(helper(bench, "tests.bench.lives", *arguments)) for _ in range(at_once // threads)
        ]
        for child in children:
            assert child.hear() == "ready"
        yield children


def _ours(children: list[Helper]) -> float:
    """Let all of them run at the same time; return lives per second."""
    for child in children:
        child.tell("go")
    return sum(int(child.hear()) for child in children) / SECONDS


def _pgbench(bench: Bench, program: str, script: str, at_once: int) -> float:
    command = [program, "-n", "-M", "simple", "-c", str(at_once), "-j", str(min(at_once, 2))]
    said = programs.run([*command, "-T", str(round(SECONDS)), "-f", script], bench.url())
    match = re.search(r"^tps = ([\d.]+)", said, re.MULTILINE)
    assert match is not None, said
    return float(match[1])


def script_of(place: Place) -> str:
    """Return the same statements as pgbench sends them: one a line, each under the role whose it is.

    Two random numbers of 16 digits make a uuid. SET ROLE rides in the same message as its statement.
    """
    lines = [rf"\set {name} random(1000000000000000, 9999999999999999)" for name in "abcd"]
    lines += [_line("create_export", place, "SET ROLE exports_api"), _line("claim", place, "SET ROLE exports_worker")]
    lines += [_line("authorize_delivery", place)]
    lines += [_line("append_evidence", place, detail=detail) for detail in evidence()]
    return "\n".join([*lines, _line("finish_delivery", place)]) + "\n"


def _line(name: str, place: Place, before: str = "", **told: str) -> str:
    values = _values(place) | told
    text = re.sub(r"%\((\w+)\)s", lambda match: _literal(values[match[1]]), STATEMENTS[name].text)
    flat = " ".join(re.sub(r"--.*", "", text).split())
    return f"{before} \\; {flat};" if before else f"{flat};"


def _literal(value: str | int | None) -> str:
    if value is None or isinstance(value, int):
        return "NULL" if value is None else str(value)
    return "'" + value.replace("'", "''") + "'"


def _values(place: Place) -> dict[str, str | int | None]:
    return {
        "tenant_id": str(place.tenant.id),
        "destination_id": str(place.destination.id),
        "contract_id": str(place.contract.id),
        "job_id": ":a:b",
        "delivery_key": ":a:b",
        "attempt_id": ":c:d",
        "created_by": "client:bench",
        "worker_id": WORKER,
        "observed_by": WORKER,
        "checked_version": 1,
        "lease_seconds": 60,
        "final_name": "contacts-:a:b.csv",
        "file_rows": ROWS,
        "file_bytes": SIZE,
        "file_sha256": "\\x" + SHA256.hex(),
        "outcome": "Completed",
        "failure_reason": None,
        "detail": "Completed: as it was read back",
    }


def evidence() -> list[str]:
    """Return details as long as those of a delivery; colons would be variables to pgbench, so there are none."""
    return ["{" + "x" * (length - 2) + "}" for length in LENGTHS]


LENGTHS = (173, 214, 66, 146, 115)
"""Characters of the five records of an ordinary delivery."""
