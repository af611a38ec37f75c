"""`python -m tests.bench.cancelling PLACE`: after `go`, create and cancel until `stop`; answers how many."""

from __future__ import annotations

import json
import logging
import os
import sys
import threading
import uuid
from typing import Any

from tests.bench.bench import set_up_django


def main(place: dict[str, str]) -> None:
    """Take orders from standard input."""
    set_up_django(os.environ)
    logging.disable(logging.ERROR)
    for _ in sys.stdin:
        stop, done = threading.Event(), [0]
        thread = threading.Thread(target=_cancel, args=(place, stop, done))
        thread.start()
        sys.stdin.readline()
        stop.set()
        thread.join()
        print(done[0], flush=True)  # noqa: T201 - the answer


def _cancel(place: dict[str, str], stop: threading.Event, done: list[int]) -> None:
    from exports.actions.request_cancellation import Click, Recorded, request_cancellation  # noqa: PLC0415 - set up now
    from tests.bench.life import born  # noqa: PLC0415 - the same

    terms: Any = _Terms(uuid.UUID(place["tenant"]), uuid.UUID(place["destination"]))
    while not stop.is_set():
        job = born(terms, "api")
        click = Click(
            tenant_id=job.tenant_id, job_id=job.id, request_id=uuid.uuid4(), requested_by="client:bench", reason=None
        )
        assert isinstance(request_cancellation(click, using="api"), Recorded)
        done[0] += 1


class _Terms:
    """As much of a life's terms as a birth needs."""

    def __init__(self, tenant_id: uuid.UUID, destination_id: uuid.UUID) -> None:
        self.tenant_id = tenant_id
        self.destination_id = destination_id


if __name__ == "__main__":
    main(json.loads(sys.argv[1]))
