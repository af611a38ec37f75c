"""The conformance suite over every destination there is and every server at hand."""

import shutil
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import pytest

from tests.destinations.conformance import *  # noqa: F403 - the suite is these tests
from tests.destinations.conformance_deliveries import *  # noqa: F403 - and these
from tests.destinations.conformance_scratch import *  # noqa: F403 - and these
from tests.destinations.faulty import faulty_server
from tests.destinations.loops import LoopThread
from tests.destinations.openssh import sshd
from tests.destinations.partners import Partner
from tests.destinations.proftpd import proftpd

Runner = Callable[[LoopThread, Path], AbstractContextManager[Partner]]


@contextmanager
def directory_runner(_loop: LoopThread, path: Path) -> Iterator[Partner]:
    root = path / "upload"
    root.mkdir(parents=True)
    groups = {"endpoint": {"kind": "directory"}, "paths": {"directory": str(root)}}
    yield Partner("directory", root, groups, hashes=True)


@contextmanager
def asyncssh_runner(loop: LoopThread, path: Path) -> Iterator[Partner]:
    root = path / "upload"
    root.mkdir(parents=True)
    with faulty_server(loop, root) as partner:
        yield partner()


@contextmanager
def openssh_runner(_loop: LoopThread, path: Path) -> Iterator[Partner]:
    with sshd(path) as server:
        yield server.partner


@contextmanager
def proftpd_runner(_loop: LoopThread, path: Path) -> Iterator[Partner]:
    with proftpd(path) as partner:
        yield partner


RUNNERS: dict[str, Runner] = {
    "directory": directory_runner,
    "asyncssh": asyncssh_runner,
    "openssh": openssh_runner,
    "proftpd": proftpd_runner,
}


@pytest.fixture(scope="module", params=RUNNERS)
def server(request: pytest.FixtureRequest, loop: LoopThread, open_path: Path) -> Iterator[Partner]:
    """Return one running server, shared by the module."""
    with RUNNERS[request.param](loop, open_path / f"conformance-{request.param}") as partner:
        yield partner


@pytest.fixture
def destination(server: Partner) -> Iterator[Partner]:
    """Return the server with an empty directory."""
    yield server
    for each in server.root.iterdir():
        if each.is_dir() and not each.is_symlink():
            shutil.rmtree(each)
        else:
            each.unlink()
