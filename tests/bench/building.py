"""`python -m tests.bench.building`: a file for each tenant told, as a worker builds it; answers seconds, peak MiB."""

from __future__ import annotations

import os
import sys
import time
import uuid


def main() -> None:
    """Set up as a worker is, then build what is told."""
    import django  # noqa: PLC0415 - it reads the environment

    django.setup()
    for line in sys.stdin:
        seconds = _build(uuid.UUID(line.strip()))
        print(seconds, _peak_mib(), flush=True)  # noqa: T201 - the answer


def _build(tenant: uuid.UUID) -> float:
    from exports.contracts import Payload  # noqa: PLC0415 - Django is set up now
    from exports.worker.builder import build  # noqa: PLC0415 - the same
    from exports.worker.stop import StopSignal  # noqa: PLC0415 - the same

    began = time.monotonic()
    file = build(job_id=uuid.uuid4(), attempt_id=uuid.uuid4(), tenant_id=tenant, payload=Payload(), stop=StopSignal())
    seconds = time.monotonic() - began
    file.delete()
    return seconds


def _peak_mib() -> float:
    from tests.bench.machine import peak_mib  # noqa: PLC0415 - beside the others

    return peak_mib(os.getpid())


if __name__ == "__main__":
    main()
