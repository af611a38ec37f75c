"""`python -m tests.bench.lives THREADS SECONDS PLACE`: lives side by side for each line told; prints how many."""

from __future__ import annotations

import json
import logging
import os
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from tests.bench.bench import set_up_django


def main(threads: int, seconds: float, place: dict[str, Any]) -> None:
    """Warm up and say ready; for each line told, run for so long and print how many lives were lived."""
    set_up_django(os.environ)
    logging.disable(logging.ERROR)
    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(lambda _: _live(0, place), range(threads)))
        print("ready", flush=True)  # noqa: T201 - the parent waits for it
        for _ in sys.stdin:
            print(sum(pool.map(lambda _: _live(seconds, place), range(threads))), flush=True)  # noqa: T201


def _live(seconds: float, place: dict[str, Any]) -> int:
    """Live one life after the other until the time is over, at least one; return how many."""
    from tests.bench.life import live  # noqa: PLC0415 - Django is set up now

    terms = _terms(place)
    ends_at, lived = time.monotonic() + seconds, 0
    while not lived or time.monotonic() < ends_at:
        live(terms)
        lived += 1
    return lived


def _terms(place: dict[str, Any]) -> Any:
    from exports.contracts import Contract  # noqa: PLC0415 - Django is set up now
    from tests.bench.life import Terms  # noqa: PLC0415 - the same

    return Terms(place["tenant"], place["destination"], place["contract"], Contract.from_json(place["terms"]))


if __name__ == "__main__":
    main(int(sys.argv[1]), float(sys.argv[2]), json.loads(sys.argv[3]))
