"""A RabbitMQ of this run's own: a node under a free port, its data in the run's directory, ended with it.

The node's name server is started apart and first, as a child of its own: the one that a node would start by itself
outlives it.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from kombu import Connection

from config.devstack import ports, waiting
from config.devstack.child import Child, Ending, Program
from config.devstack.passwords import write_private

if TYPE_CHECKING:
    from config.devstack.stack import Stack

START_SECONDS = 90.0
"""A start takes ten seconds on an idle machine, and most of it is work."""
ASK_SECONDS = 60.0
"""Every question to the node starts a machine of its own, which takes two seconds."""
QUEUES = ("exports", "maintenance", "acknowledgments")
_PATH = f"{os.defpath}:/usr/sbin:/sbin:/usr/local/bin:/usr/lib/rabbitmq/bin"

_CONFIGURATION = """\
listeners.tcp.1 = {host}:{port}
default_user = exports
default_pass = {password}
loopback_users = none
log.console = true
log.file = false
disk_free_limit.absolute = 50MB
"""


def _scripts() -> Path | None:
    """Return where the node's own scripts are; a distribution's wrappers change the account on their way."""
    wrapper = shutil.which("rabbitmq-server", path=_PATH)
    for found in (
        *Path("/usr/lib/rabbitmq/lib").glob("rabbitmq_server-*/sbin"),
        *([Path(wrapper).parent] if wrapper else []),
    ):
        if (found / "rabbitmqctl").exists() and shutil.which("epmd", path=_PATH):
            return found
    return None


class Rabbit:
    """One node, as long as the run's other servers."""

    def __init__(self, stack: Stack, host: str = ports.LOOPBACK) -> None:
        self._stack = stack
        self._directory = stack.home.directory / "rabbitmq"
        self._host = host
        self.port = 0

    def start(self) -> None:
        """Start it and wait until it takes connections; skip, or fail where servers are required, without one."""
        scripts = _scripts()
        if scripts is None:
            if os.environ.get("REQUIRE_SERVERS") == "1":
                pytest.fail("REQUIRE_SERVERS=1, but RabbitMQ is not installed here")
            pytest.skip("RabbitMQ is not installed here")
        self._scripts = scripts
        self.port, self._names, self._distribution = (ports.unused() for _ in range(3))
        self._directory.mkdir(mode=0o700)
        told = {"host": self._host, "port": self.port, "password": self._password}
        write_private(self._directory / "rabbitmq.conf", _CONFIGURATION.format(**told))
        self.start_again()

    def start_again(self) -> None:
        """Start it on the same port with the same data."""
        self._child("epmd", ["epmd", "-port", str(self._names), "-address", ports.LOOPBACK])
        node = self._child("rabbitmq", [str(self._scripts / "rabbitmq-server")], grace_seconds=30)
        up = waiting.until(lambda: not node.running() or "startup complete" in node.said(), seconds=START_SECONDS)
        assert up, node.said()
        assert node.running(), node.said()

    def stop(self) -> None:
        """Stop the node and its name server; what was persistent comes back with `start_again`."""
        for name in ("rabbitmq", "epmd"):
            self._stack.home.children.stop(name)

    def url(self) -> str:
        """Return its address, the password included."""
        return f"amqp://exports:{self._password}@{self._host}:{self.port}//"

    def counts(self) -> dict[str, tuple[int, int]]:
        """Return of each queue how many messages wait and how many are taken and not settled."""
        columns = ("name", "messages_ready", "messages_unacknowledged")
        listed = json.loads(self.ask("list_queues", "--formatter", "json", *columns))
        return {row["name"]: (row["messages_ready"], row["messages_unacknowledged"]) for row in listed}

    def empty(self) -> None:
        """Forget every queue of the project, and what is in it."""
        for name in QUEUES:
            self.delete(name)

    def delete(self, queue: str) -> None:
        """Forget one queue, whoever listens to it."""
        with Connection(self.url()) as connection:
            channel: Any = connection.channel()
            channel.queue_delete(queue)

    def ask(self, *words: str) -> str:
        """Ask the node as its administrator; return what it answers."""
        command = [str(self._scripts / "rabbitmqctl"), "--quiet", *words]
        done = subprocess.run(
            command, env=self._environment(), capture_output=True, text=True, check=False, timeout=ASK_SECONDS
        )
        assert done.returncode == 0, f"{words}: {done.stdout}{done.stderr}"
        return done.stdout

    @property
    def _password(self) -> str:
        return self._stack.home.passwords.of("rabbitmq")

    def _child(self, name: str, command: list[str], grace_seconds: float = 5) -> Child:
        program = Program(
            name,
            command,
            self._stack.home.log(name),
            environment=self._environment(),
            directory=self._directory,
            ending=Ending(grace_seconds=grace_seconds),
        )
        return self._stack.home.children.start(program)

    def _environment(self) -> dict[str, Any]:
        directory = str(self._directory)
        return {
            "PATH": _PATH,
            "HOME": directory,  # the cookie that lets only this run's programs in
            "LC_ALL": "C.UTF-8",
            "ERL_EPMD_PORT": str(self._names),
            "ERL_EPMD_ADDRESS": ports.LOOPBACK,
            "RABBITMQ_NODENAME": f"exports{self.port}@localhost",
            "RABBITMQ_DIST_PORT": str(self._distribution),
            "RABBITMQ_MNESIA_BASE": f"{directory}/data",
            "RABBITMQ_LOG_BASE": directory,
            "RABBITMQ_CONFIG_FILE": f"{directory}/rabbitmq.conf",
            "RABBITMQ_ENABLED_PLUGINS_FILE": f"{directory}/plugins",
            "RABBITMQ_CONF_ENV_FILE": f"{directory}/none",
            "RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS": "-kernel inet_dist_use_interface {127,0,0,1}",
        }
