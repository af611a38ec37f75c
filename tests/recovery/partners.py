"""A partner that accepts connections and never says a word, and counts them."""

from __future__ import annotations

import socket
import threading
from typing import Self


class SilentPartner:
    """A listener on loopback; every connection stays open and unanswered until the end, or is ended at once."""

    def __init__(self, *, hangs_up: bool = False) -> None:
        self._hangs_up = hangs_up
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        self.connections: list[socket.socket] = []
        self.called = threading.Event()
        self._thread = threading.Thread(target=self._accept, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            self.connections.append(connection)
            self.called.set()
            if self._hangs_up:
                connection.close()

    def hang_up(self) -> None:
        """End every connection: whoever waits on one gets its answer, which is none."""
        for connection in self.connections:
            connection.close()

    def __exit__(self, *_: object) -> None:
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self.hang_up()
        self._thread.join(5)
