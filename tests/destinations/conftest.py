"""Fixtures for destinations. None of these tests needs a database."""

import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.destinations.faulty import faulty_server
from tests.destinations.loops import LoopThread
from tests.destinations.partners import Partner


@pytest.fixture(scope="session")
def loop() -> Iterator[LoopThread]:
    """Return the thread that test servers of asyncssh run on."""
    with LoopThread() as running:
        yield running


@pytest.fixture(scope="session")
def open_path() -> Iterator[Path]:
    """Return a directory that servers running as another account can enter, unlike pytest's own."""
    path = Path(tempfile.mkdtemp(prefix="contact-exports-partners-"))
    path.chmod(0o755)
    yield path
    shutil.rmtree(path, ignore_errors=True)


@pytest.fixture
def faulty(loop: LoopThread, tmp_path: Path) -> Iterator[Callable[..., Partner]]:
    """Return what makes a partner that fails as asked, over one server with an empty directory."""
    root = tmp_path / "faulty"
    root.mkdir()
    with faulty_server(loop, root) as partner:
        yield partner
