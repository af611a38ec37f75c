"""The broker: Valkey, which speaks the Redis protocol, started from its own program with a password."""

from __future__ import annotations

from typing import TYPE_CHECKING

import redis

from config.devstack import binaries, waiting
from config.devstack.child import Child, Program
from config.devstack.errors import DevstackError
from config.devstack.passwords import write_private
from config.devstack.ports import LOOPBACK

if TYPE_CHECKING:
    from config.devstack.home import Home

_NAME = "broker"
_START_SECONDS = 60  # reading its log back takes seconds per gigabyte
_ANSWER_SECONDS = 2  # on loopback; a broker that is still loading says so at once
_TRIES = 5  # each fails only if somebody takes the port in the same instant

# Wake-ups survive a restart because the log is written every second; nothing relies on that. With
# noeviction a full memory refuses a message instead of dropping another one.
_CONFIGURATION = """\
bind {host}
port {port}
requirepass {password}
dir ./
save ""
appendonly yes
appendfsync everysec
maxmemory-policy noeviction
daemonize no
"""


class Broker:
    """One broker, its data in DIR/broker."""

    def __init__(self, home: Home) -> None:
        self._home = home
        self._directory = home.directory / _NAME
        self.port = 0

    def start(self) -> None:
        """Start it on the port of last time, or on another one, and wait until it answers."""
        self._directory.mkdir(mode=0o700, exist_ok=True)
        self.port = self._home.ports.choose(_NAME)
        for _ in range(_TRIES):
            child = self._launch()
            if self._wait_until_answering(child):
                return
            self._home.children.stop(_NAME)
            if "in use" not in child.said():
                break
            self.port = self._home.ports.renew(_NAME)
        raise DevstackError(f"The broker did not start; {self._home.log(_NAME)} says why.")

    def stop(self) -> None:
        """Stop it, its log written out."""
        self._home.children.stop(_NAME)

    def url(self, database: int = 0) -> str:
        """Return its address, the password included."""
        return f"redis://:{self._home.passwords.of(_NAME)}@{LOOPBACK}:{self.port}/{database}"

    def _launch(self) -> Child:
        configuration = self._directory / "valkey.conf"
        password = self._home.passwords.of(_NAME)
        write_private(configuration, _CONFIGURATION.format(host=LOOPBACK, port=self.port, password=password))
        command = [str(binaries.valkey_server()), str(configuration)]
        return self._home.children.start(Program(_NAME, command, self._home.log(_NAME), directory=self._directory))

    def _wait_until_answering(self, child: Child) -> bool:
        waiting.until(lambda: not child.running() or self._answers(), seconds=_START_SECONDS, check=self._home.check)
        return child.running() and self._answers()

    def _answers(self) -> bool:
        with redis.Redis.from_url(self.url(), socket_timeout=_ANSWER_SECONDS) as client:
            try:
                return bool(client.ping())
            except redis.RedisError:
                return False
