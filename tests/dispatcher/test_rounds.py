"""Nobody starves: wake-ups go to the broker in rounds over tenants, and no more than it is asked to hold."""

from __future__ import annotations

import uuid
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from django.db import connection

from exports import dispatcher
from exports.models import OutboxMessage
from exports.sql import STATEMENTS
from tests.broker.wire import queued
from tests.faults.waking import standing_at
from tests.faults.world import a_world

if TYPE_CHECKING:
    import redis

    from config.devstack.partner import PartnerAccount
    from tests.faults.waking import Waking
    from tests.faults.world import World

pytestmark = pytest.mark.django_db(transaction=True, databases=["default", "api", "worker", "dispatcher"])

CROWD = 10_000

_WAKE_UPS = """
INSERT INTO outbox (message_id, kind, job_id, tenant_id, created_at, published_at)
SELECT gen_random_uuid(), 'ExportReady', gen_random_uuid(), %(tenant)s,
       clock_timestamp() - interval '1 hour' + n * interval '1 ms', %(published)s
FROM generate_series(1, %(count)s) n
"""


def crowd(tenant: uuid.UUID, count: int = CROWD, published: str | None = None) -> None:
    """Let a tenant have so many wake-ups, older than any other."""
    with connection.cursor() as cursor:
        cursor.execute(_WAKE_UPS, {"tenant": tenant, "count": count, "published": published})


def dispatch(limit: int, rounds: dispatcher.Rounds | None = None) -> dispatcher.Dispatched:
    return dispatcher.run_once(limit, "dispatcher", rounds)


def unpublished() -> int:
    return OutboxMessage.objects.filter(published_at=None).count()


@pytest.fixture
def depth(settings: Any) -> int:
    """Let the broker be deep enough with so few."""
    settings.EXPORTS = replace(settings.EXPORTS, dispatch_depth=7)
    return 7


def ids(broker: redis.Redis) -> list[uuid.UUID]:
    """Return the exports in the order in which workers will be woken for them."""
    return [message.job_id for message in reversed(queued(broker))]


def work_off(broker: redis.Redis, count: int) -> None:
    """Take so many messages as workers do, and settle them."""
    for _ in range(count):
        assert broker.rpop("exports") is not None


def test_one_export_behind_ten_thousand_of_another_tenant_is_among_the_first_two(
    world: World, empty_broker: redis.Redis
) -> None:
    crowd(uuid.uuid4())
    job = world.queued()

    assert dispatch(100).published > 1

    assert job.id in ids(empty_broker)[:2]


def test_in_one_batch_every_tenant_has_its_first_before_any_has_its_second(
    world: World, partner: PartnerAccount, empty_broker: redis.Redis
) -> None:
    worlds = [world, a_world(partner), a_world(partner)]
    jobs = [[each.queued() for _ in range(count)] for each, count in zip(worlds, (4, 2, 1), strict=True)]

    while dispatch(12).published:
        pass

    order = ids(empty_broker)
    assert set(order[:3]) == {of[0].id for of in jobs}
    assert set(order[3:5]) == {jobs[0][1].id, jobs[1][1].id}
    assert order[5:] == [jobs[0][2].id, jobs[0][3].id]


def test_where_a_batch_is_smaller_than_the_number_of_tenants_the_next_goes_on_behind_the_last(
    empty_broker: redis.Redis,
) -> None:
    for number in range(1, 8):
        crowd(uuid.UUID(int=number), 5)
    rounds = dispatcher.Rounds()
    for _ in range(7):
        assert dispatch(3, rounds).published == 3

    left = [OutboxMessage.objects.filter(published_at=None, tenant_id=uuid.UUID(int=n)).count() for n in range(1, 8)]
    assert left == [2] * 7, "each of seven tenants had three of the 21 turns"
    assert len(ids(empty_broker)) == 21


def test_a_queue_as_deep_as_allowed_is_added_to_only_as_it_is_emptied(
    depth: int, world: World, empty_broker: redis.Redis
) -> None:
    for _ in range(depth + 3):
        world.queued()
    assert dispatch(100).published == depth
    assert dispatch(100) == dispatcher.Dispatched(published=0, held_back=True)
    assert unpublished() == 3

    work_off(empty_broker, 2)
    assert dispatch(100).published == 2
    assert (len(ids(empty_broker)), unpublished()) == (depth, 1)

    work_off(empty_broker, depth)
    assert dispatch(100) == dispatcher.Dispatched(published=1)


def test_while_the_broker_is_deep_another_tenant_is_next_and_waits_for_its_depth_alone(
    depth: int, world: World, empty_broker: redis.Redis
) -> None:
    crowd(uuid.uuid4(), 500)
    dispatch(100)
    job = world.queued()
    assert dispatch(100).held_back

    work_off(empty_broker, 2)
    dispatch(100)

    assert job.id in ids(empty_broker)[depth - 2 :]


def test_several_dispatchers_at_once_publish_each_wake_up_once_and_starve_nobody(
    world: World, empty_broker: redis.Redis, waking: Waking
) -> None:
    crowd(uuid.UUID(int=1), 300)
    crowd(uuid.UUID(int=2), 3)
    job = world.queued()

    def all_of_it() -> int:
        rounds, published = dispatcher.Rounds(), 0
        while (done := dispatch(20, rounds).published) or unpublished():
            published += done
        return published

    with standing_at("dispatch.publish.before") as first:
        several = [waking.call(all_of_it, using="dispatcher") for _ in range(3)]
        first.wait()  # it holds its rows while the others go on
        first.let_go()
        assert sum(each.result() for each in several) == 304

    published = ids(empty_broker)
    assert len(published) == len(set(published)) == 304
    assert job.id in published[:80]  # in the first batches of each at the latest


def test_a_wake_up_that_names_no_tenant_has_its_turn_too(world: World, empty_broker: redis.Redis) -> None:
    job = world.queued()
    with connection.cursor() as cursor:
        cursor.execute("UPDATE outbox SET tenant_id = DEFAULT")  # as of a release before rounds
    assert dispatch(1).published == 1
    assert ids(empty_broker) == [job.id]


def test_every_statement_that_wakes_says_whose_wake_up_it_is(world: World) -> None:
    job = world.queued()
    assert OutboxMessage.objects.get(job_id=job.id).tenant_id == world.tenant.id
    waking = {name: s.text for name, s in STATEMENTS.items() if "INTO outbox" in s.text}
    assert len(waking) == 6
    for name, text in waking.items():
        assert "INTO outbox (message_id, kind, job_id, tenant_id, created_at)" in text, name


def test_a_batch_touches_its_own_wake_ups_and_the_index_however_many_wait_or_went(world: World) -> None:
    crowd(uuid.uuid4())
    crowd(uuid.uuid4(), published="2020-01-01")
    world.queued()
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE outbox")
        explain = f"EXPLAIN (ANALYZE, FORMAT JSON) {STATEMENTS['take_outbox'].text}"
        cursor.execute(explain, {"batch": 20, "after_tenant": uuid.UUID(int=0)})
        ((answer,),) = cursor.fetchall()
    scans = [node for node in nodes(answer[0]["Plan"]) if node.get("Relation Name") == "outbox"]
    assert {node["Node Type"] for node in scans} <= {"Index Scan", "Index Only Scan"}
    assert {node["Index Name"] for node in scans} == {"ix_x_outbox_rounds"}
    assert sum(node["Actual Rows"] * node["Actual Loops"] for node in scans) < 50


def nodes(plan: dict[str, Any]) -> list[dict[str, Any]]:
    """Return a plan's nodes, each before those below it."""
    return [plan, *(below for part in plan.get("Plans", []) for below in nodes(part))]
