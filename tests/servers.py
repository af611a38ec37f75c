"""Fixtures over the running servers, for any conftest: a partner with a fresh directory for each test."""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING

import pytest

from tests.plugin import STACK
from tests.rabbit import Rabbit

if TYPE_CHECKING:
    from config.devstack.partner import PartnerAccount
    from config.devstack.stack import Stack


@pytest.fixture(scope="session")
def stack(request: pytest.FixtureRequest) -> Stack:
    """Return the servers of this run."""
    return request.config.stash[STACK]


@pytest.fixture(scope="session")
def rabbit(stack: Stack) -> Rabbit:
    """Return this run's RabbitMQ, started when the first test asks for it; where there is none, skip."""
    node = Rabbit(stack)
    node.start()
    return node


@pytest.fixture
def partner(stack: Stack) -> PartnerAccount:
    """Return an account at the partner's SFTP server, with an empty directory of its own."""
    return stack.partner.add_account(f"partner-{secrets.token_hex(4)}")


@pytest.fixture(scope="session")
def admin_url(stack: Stack) -> str:
    """Return the superuser's login, for questions to the catalogue and for ending sessions."""
    return stack.postgres.url()
