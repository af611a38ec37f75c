"""The way from a machine of the tests to the servers, which listen on loopback alone: `gate.py HOST PORT TARGET …`.

A process of its own: it passes on the bytes of a hundred connections while the test waits and counts.
"""

from __future__ import annotations

import asyncio
import sys
from contextlib import suppress

LISTENING = "listening"
_BLOCK = 65_536


async def _pass_on(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with suppress(OSError):
        while data := await reader.read(_BLOCK):
            writer.write(data)
            await writer.drain()
    writer.close()


def _to(port: int) -> object:
    async def relay(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            there, back = await asyncio.open_connection("127.0.0.1", port)
        except OSError:
            writer.close()
            return
        await asyncio.gather(_pass_on(reader, back), _pass_on(there, writer))

    return relay


async def serve(host: str, ports: list[int]) -> None:
    """Listen on each port of this host and pass on to the same port on loopback, until the process is ended."""
    servers = [await asyncio.start_server(_to(port), host, port) for port in ports]  # type: ignore[arg-type]
    print(LISTENING, flush=True)  # noqa: T201 - its parent waits for this word
    await asyncio.gather(*(server.serve_forever() for server in servers))


if __name__ == "__main__":
    asyncio.run(serve(sys.argv[1], [int(word) for word in sys.argv[2:]]))
