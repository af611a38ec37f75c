"""The bench for all schedules, and what they came to, printed at the end."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING, Any

import pytest

import reconciliation.sql  # noqa: F401 - its statements belong to the registry
from tests.summary import TALLY

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.interleavings.bench import Bench


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if "interleavings" in item.path.parts:
            item.add_marker(pytest.mark.django_db)


@pytest.fixture(scope="module")  # in folders that are no packages, package scope would be the whole run
def bench(
    request: pytest.FixtureRequest,
    django_db_setup: None,  # noqa: ARG001 - the database exists first
    django_db_blocker: Any,
) -> Iterator[Bench]:
    from tests.interleavings.bench import Bench  # noqa: PLC0415 - Django must be set up

    with django_db_blocker.unblock(), closing(Bench()) as bench:
        bench.prepare()
        yield bench
        request.config.stash.setdefault(TALLY, []).append(dict(bench.tally))
