"""`python -m tests.bench.procrastinating CONCURRENCY`: for each number told, so many no-op jobs; answers seconds.

The database is in the environment (PGHOST, …). Jobs are deferred first, untimed, as exports are created first.
"""

from __future__ import annotations

import asyncio
import logging
import sys
import time
from typing import TYPE_CHECKING

import procrastinate

if TYPE_CHECKING:
    from procrastinate.types import JSONDict as JobArguments

logging.disable(logging.CRITICAL)  # first: making an app in a program's own module is warned of
app = procrastinate.App(connector=procrastinate.PsycopgConnector())


@app.task(queue="bench")
async def nothing(number: int) -> None:
    """Do nothing."""
    del number


async def main(concurrency: int) -> None:
    """Prepare the schema, then take orders from standard input."""
    async with app.open_async():
        await app.schema_manager.apply_schema_async()
        print("ready", flush=True)  # noqa: T201 - the parent waits for it
        while line := await asyncio.to_thread(sys.stdin.readline):
            print(await _round(int(line), concurrency), flush=True)  # noqa: T201 - the answer


async def _round(jobs: int, concurrency: int) -> float:
    orders: list[JobArguments] = [{"number": number} for number in range(jobs)]
    await nothing.batch_defer_async(*orders)
    began = time.monotonic()
    await app.run_worker_async(queues=["bench"], concurrency=concurrency, wait=False, install_signal_handlers=False)
    return time.monotonic() - began


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[1])))
