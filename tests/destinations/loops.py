"""An event loop on a thread of its own, for servers that tests with threads and blocking calls talk to."""

import asyncio
import threading
from collections.abc import Coroutine
from typing import Any, Self


class LoopThread:
    """Runs coroutines for blocking code. Used as a context; leaving it ends every task and the thread."""

    def __enter__(self) -> Self:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="test-servers", daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.run(self._cancel_all())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(10)
        self._loop.close()

    def run(self, coroutine: Coroutine[Any, Any, Any]) -> Any:
        """Run a coroutine on the loop and wait for its result, at most 30 seconds."""
        return asyncio.run_coroutine_threadsafe(coroutine, self._loop).result(30)

    @staticmethod
    async def _cancel_all() -> None:
        tasks = asyncio.all_tasks() - {asyncio.current_task()}
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
